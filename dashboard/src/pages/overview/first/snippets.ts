/** The values that the snippets of a first request need to work as pasted. */
interface FirstRequest {
  /** Of the API, such as `http://localhost:3000`. */
  url: string;
  key: string;
  /** An address on a verified domain of the project. */
  from: string;
  to: string;
}

const subject = 'Hello from Fernpost';
const body = '<p>My first email.</p>';

/** The languages that a first request is shown in, and how each is run. None needs a package. */
export const languages = [
  { key: 'curl', name: 'curl', run: 'Paste it into a terminal.', code: curl },
  { key: 'typescript', name: 'TypeScript', run: 'Save it as first.ts and run: node first.ts', code: typescript },
  { key: 'python', name: 'Python', run: 'Save it as first.py and run: python3 first.py', code: python },
  { key: 'go', name: 'Go', run: 'Save it as first.go and run: go run first.go', code: go },
] as const;

// In a shell everything between single quotes is as it stands, but for the quote itself.
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
// A string of JSON is one of TypeScript, Python and Go too.
const text = (value: string) => JSON.stringify(value);

function curl({ url, key, from, to }: FirstRequest): string {
  return `curl ${quoted(`${url}/v1/send`)} \\
  -H ${quoted(`Authorization: Bearer ${key}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(JSON.stringify({ from, to, subject, body }, null, 2))}`;
}

function typescript({ url, key, from, to }: FirstRequest): string {
  return `const response = await fetch(${text(`${url}/v1/send`)}, {
  method: 'POST',
  headers: {
    Authorization: ${text(`Bearer ${key}`)},
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    from: ${text(from)},
    to: ${text(to)},
    subject: ${text(subject)},
    body: ${text(body)},
  }),
});
console.log(response.status, await response.text());

export {};`;
}

function python({ url, key, from, to }: FirstRequest): string {
  return `import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    ${text(`${url}/v1/send`)},
    headers={
        "Authorization": ${text(`Bearer ${key}`)},
        "Content-Type": "application/json",
    },
    data=json.dumps({
        "from": ${text(from)},
        "to": ${text(to)},
        "subject": ${text(subject)},
        "body": ${text(body)},
    }).encode(),
)
try:
    print(urlopen(request).read().decode())
except HTTPError as error:
    print(error.code, error.read().decode())`;
}

function go({ url, key, from, to }: FirstRequest): string {
  return `package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
)

func main() {
	body, err := json.Marshal(map[string]string{
		"from":    ${text(from)},
		"to":      ${text(to)},
		"subject": ${text(subject)},
		"body":    ${text(body)},
	})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest("POST", ${text(`${url}/v1/send`)}, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", ${text(`Bearer ${key}`)})
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(response.Status, string(answer))
}`;
}

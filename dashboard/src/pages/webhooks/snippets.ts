/** How calls are verified with the library of Standard Webhooks, in five languages. */
export const snippets = [
  {
    key: 'node',
    name: 'Node.js',
    install: 'npm install standardwebhooks',
    code: `import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.FERNPOST_WEBHOOK_SECRET);

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = webhook.verify(Buffer.concat(chunks).toString(), request.headers);
    console.log(event.type, request.headers['webhook-id']);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(4000);`,
  },
  {
    key: 'python',
    name: 'Python',
    install: 'pip install standardwebhooks flask',
    code: `import os
from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["FERNPOST_WEBHOOK_SECRET"])

@app.post("/webhooks/fernpost")
def fernpost():
    try:
        event = webhook.verify(request.get_data(as_text=True), dict(request.headers))
    except WebhookVerificationError:
        return "", 400
    print(event["type"], request.headers["webhook-id"])
    return "", 204`,
  },
  {
    key: 'go',
    name: 'Go',
    install: 'go get github.com/standard-webhooks/standard-webhooks/libraries',
    code: `package main

import (
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("FERNPOST_WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/webhooks/fernpost", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := webhook.Verify(body, r.Header); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		log.Println(r.Header.Get("webhook-id"), string(body))
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe(":4000", nil))
}`,
  },
  {
    key: 'php',
    name: 'PHP',
    install: 'composer require standard-webhooks/standard-webhooks',
    code: `<?php
require 'vendor/autoload.php';

$webhook = new \\StandardWebhooks\\Webhook(getenv('FERNPOST_WEBHOOK_SECRET'));
try {
    $event = $webhook->verify(file_get_contents('php://input'), getallheaders());
    error_log($event['type']);
    http_response_code(204);
} catch (\\Exception $e) {
    http_response_code(400);
}`,
  },
  {
    key: 'ruby',
    name: 'Ruby',
    install: 'gem install standardwebhooks sinatra',
    code: `require 'sinatra'
require 'standardwebhooks'

webhook = StandardWebhooks::Webhook.new(ENV['FERNPOST_WEBHOOK_SECRET'])

post '/webhooks/fernpost' do
  headers = request.env.select { |name, _| name.start_with?('HTTP_') }
                   .to_h { |name, value| [name.delete_prefix('HTTP_').downcase.tr('_', '-'), value] }
  event = webhook.verify(request.body.read, headers)
  puts event[:type]
  204
rescue StandardWebhooks::StandardWebhooksError
  400
end`,
  },
] as const;

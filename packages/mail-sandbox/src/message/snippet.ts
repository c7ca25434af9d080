/**
 * A command that sends a first email: through the service where its address is known, else to the sandbox itself, whose address is
 * `own`.
 */
export function firstSnippet(serviceUrls: readonly string[], own: string): { text: string; needsKey: boolean } {
  const [service] = serviceUrls;
  if (service === undefined) return { text: toSandbox(own), needsKey: false };
  return { text: toService(service), needsKey: true };
}

function toService(base: string): string {
  return `curl ${base}/v1/send \\
  -H "Authorization: Bearer $SECRET_KEY" -H 'Content-Type: application/json' \\
  -d '{ "to": "ada@example.com", "from": "hello@fernpost.test", "subject": "Hello", "body": "<p>Welcome!</p>" }'`;
}

function toSandbox(base: string): string {
  return `curl ${base}/email \\
  -H 'X-Postmark-Server-Token: sandbox' -H 'Content-Type: application/json' -H 'Accept: application/json' \\
  -d '{ "To": "ada@example.com", "From": "hello@fernpost.test", "Subject": "Hello", "HtmlBody": "<p>Welcome!</p>" }'`;
}

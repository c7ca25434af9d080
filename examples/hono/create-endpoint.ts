import { Fernpost } from '@fernpost/sdk';

// Creates the webhook endpoint of the app and prints its secret, which is shown this once.
const fernpost = new Fernpost({
  baseUrl: process.env.FERNPOST_URL ?? 'http://localhost:3000',
  key: process.env.FERNPOST_KEY ?? '',
});
const url = process.argv[2] ?? 'http://localhost:4000/webhooks/fernpost';
const { secret } = await fernpost.webhookEndpoints.create({ url, events: ['email.bounce', 'email.complaint'] });
console.log(secret);

import { Posthorn } from '@posthorn/sdk';

// Creates the webhook endpoint of the app and prints its secret, which is shown this once.
const posthorn = new Posthorn({
  baseUrl: process.env.POSTHORN_URL ?? 'http://localhost:3000',
  key: process.env.POSTHORN_KEY ?? '',
});
const url = process.argv[2] ?? 'http://localhost:4000/webhooks/posthorn';
const { secret } = await posthorn.webhookEndpoints.create({ url, events: ['email.bounce', 'email.complaint'] });
console.log(secret);

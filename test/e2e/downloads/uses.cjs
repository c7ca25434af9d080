// What an app does with the SDK, in any runtime: sends, lists, verifies a webhook, and learns why a request was refused.
module.exports = async ({ Fernpost, FernpostError, verifyWebhook }, { url, key, webhook, to }) => {
  const fernpost = new Fernpost({ baseUrl: url, key });
  const [sent] = await fernpost.send({ to, from: 'hello@fernpost.test', subject: 'Hello', body: '<p>Hello</p>' });
  const listed = [];
  for await (const { id, subject } of fernpost.emails.list({ to })) listed.push({ isSent: id === sent.email, subject });
  const { type } = verifyWebhook(webhook.body, webhook.headers, webhook.secret);
  let isForgeryRefused = false;
  try {
    verifyWebhook(`${webhook.body} `, webhook.headers, webhook.secret);
  } catch {
    isForgeryRefused = true;
  }
  const refusal = await fernpost
    .send({ to: 'nobody', from: 'hello@fernpost.test', subject: 'Hello', body: 'Hello' })
    .then(() => null, (error) => error);
  const { status, code, fields, requestId } = refusal;
  const isRefusal = refusal instanceof FernpostError && requestId.length === 36;
  return { listed, type, isForgeryRefused, refusal: { isRefusal, status, code, fields: fields.map(({ field }) => field) } };
};

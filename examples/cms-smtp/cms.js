import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createTransport } from 'nodemailer';

// A small CMS: whoever publishes a page lets the editors know. It knows SMTP and nothing of Fernpost.
const transport = createTransport({
  host: process.env.SMTP_HOST ?? '127.0.0.1',
  port: Number(process.env.SMTP_PORT ?? 2525),
  auth: { user: process.env.SMTP_USER ?? 'fernpost', pass: process.env.SMTP_PASSWORD },
});
const editors = (process.env.EDITORS ?? 'ada@example.com,grace@example.com').split(',');
const from = process.env.SENDER ?? 'CMS <hello@fernpost.test>';
const pages = new Map();

const server = createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    if (request.method !== 'POST') return answer(200, [...pages.values()]);
    const { title, text } = await json(request);
    const page = { id: String(pages.size + 1), title, text };
    pages.set(page.id, page);
    const { response: queued } = await transport.sendMail({
      from,
      to: editors,
      // The same page is one message: what is submitted again after a lost answer goes out once.
      messageId: `<page-${page.id}-${process.pid}@cms.example>`,
      subject: `Published: ${title}`,
      text: `${title}\n\n${text}\n`,
      // Taken off before the mail is sent; a program that cannot set headers does without.
      headers: { 'X-Fernpost-Tag': `page=${page.id}` },
      attachments: [{ filename: 'page.txt', content: text }],
    });
    answer(201, { ...page, queued });
  } catch (error) {
    // The server's own words: an unverified sender, a limit, a wrong password.
    answer(502, { error: error.response ?? error.message });
  }
});
server.listen(Number(process.env.PORT ?? 4100), () => console.log(`listening on ${server.address().port}`));

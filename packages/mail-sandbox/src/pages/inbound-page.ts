import { html } from './html.ts';
import { layout } from './layout.ts';

/** What the form for a received mail shows. */
export interface InboundView {
  values: { from: string; to: string; subject: string; text: string; html: string; spam: boolean };
  notice: { text: string; bad: boolean } | null;
}

/** The form that makes a mail arrive, as if someone had written to one of the project's addresses. */
export function inboundPage({ values, notice }: InboundView): string {
  const body = html`
<h1>Receive email</h1>
<p class="muted">Posts an email to the inbound webhook, as if it had arrived from outside.</p>
${notice && html`<p class="notice${notice.bad && ' bad'}" role="status">${notice.text}</p>`}
<form class="card" method="post" action="/inbound">
<p><label for="from">From</label><input type="text" id="from" name="from" required value="${values.from}" placeholder="Ada Lovelace &lt;ada@example.com&gt;"></p>
<p><label for="to">To</label><input type="text" id="to" name="to" required value="${values.to}" placeholder="support@fernpost.test"></p>
<p><label for="subject">Subject</label><input type="text" id="subject" name="subject" value="${values.subject}"></p>
<p><label for="text">Text</label><textarea id="text" name="text" rows="5">${values.text}</textarea></p>
<p><label for="html">HTML (optional)</label><textarea id="html" name="html" rows="3">${values.html}</textarea></p>
<p><input type="checkbox" id="spam" name="spam" value="1"${values.spam && html` checked`}>
<label class="beside" for="spam">Mark as spam</label></p>
<button class="main">Receive email</button>
</form>`;
  return layout({ title: 'Receive email', here: 'inbound', body });
}

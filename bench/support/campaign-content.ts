/** The campaign of the benchmark: about 1.3 kB of HTML with three variables. */
export const campaignHtml = `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f4ef">
<tr><td align="center" style="padding:24px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" style="background:#ffffff;border-radius:6px">
<tr><td style="padding:32px;font-family:Georgia,serif;font-size:16px;line-height:1.5;color:#2b2b2b">
<h1 style="font-size:22px;margin:0 0 16px">Dear {{firstName}},</h1>
<p style="margin:0 0 16px">the autumn migration has begun, and from {{city}} you can see the first flocks in the early morning.
We have counted more than forty thousand birds at the coast since Sunday, a third more than last year.</p>
<p style="margin:0 0 16px">With your {{plan}} membership you may join the guided walks on Saturday and Sunday. They start at
six at the old lighthouse; bring warm clothes and something hot to drink.</p>
<p style="margin:0 0 24px"><a href="https://birdwatch.test/walks?year=2026" style="background:#1f5f4a;color:#ffffff;padding:12px 20px;border-radius:4px;text-decoration:none">Choose a walk</a></p>
<p style="margin:0;color:#6b6b6b;font-size:13px">You get this letter because you count birds with us.</p>
</td></tr></table>
</td></tr></table>`;

/** Its subject. */
export const campaignSubject = 'The migration has begun, {{firstName}}';

/** A mail as clients show it whose theme is light or dark: the frame has the colors of the dashboard, so what the mail asks for is answered here. */
export function inAppearance(html: string, appearance: 'light' | 'dark'): string {
  return html
    .replaceAll('(prefers-color-scheme: dark)', appearance === 'dark' ? 'all' : 'not all')
    .replaceAll('(prefers-color-scheme: light)', appearance === 'light' ? 'all' : 'not all');
}

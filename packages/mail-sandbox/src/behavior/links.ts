const anchorStart = /<a\s/gi;
const href = /^<a\s(?:[^>"']|"[^"]*"|'[^']*')*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/i;
const plain = /https?:\/\/[^\s<>"']+/gi;

// A hostile message may hold a million broken tags; these bound the work.
const anchorsRead = 1_000;
const longestTag = 8_192;

/** The web links of a message in order, each once: those of the HTML, or of the text when the HTML has none. */
export function findLinks(html: string, text: string): string[] {
  const links = new Set<string>();
  let anchors = 0;
  for (const start of html.matchAll(anchorStart)) {
    anchors += 1;
    if (anchors > anchorsRead) break;
    const match = href.exec(html.slice(start.index, start.index + longestTag));
    const link = decodeAttribute(match?.[1] ?? match?.[2] ?? match?.[3] ?? '').trim();
    if (/^https?:\/\//i.test(link)) links.add(link);
  }
  if (links.size > 0) return [...links];
  for (const match of text.matchAll(plain)) links.add(match[0].replace(/[).,;!?]+$/, ''));
  return [...links];
}

const entities: Record<string, string> = {
  '&amp;': '&',
  '&#38;': '&',
  '&#x26;': '&',
  '&quot;': '"',
  '&#39;': "'",
};

function decodeAttribute(value: string): string {
  return value.replaceAll(/&(?:amp|#38|#x26|quot|#39);/gi, (entity) => entities[entity.toLowerCase()] ?? entity);
}

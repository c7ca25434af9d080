import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { LinkSettings } from './links.ts';
import { type ContentSource, type PreparedContent, prepareContent } from './prepare.ts';

// A prepared template holds its source several times over: as written, cut, in plain Liquid, as HTML and as text.
const bytesPerCharacter = 16;
const bytesPerEntry = 4_096;

/** How many bytes of prepared content a process keeps at most, as it reckons them. */
const defaultCacheBytes = 128 * 1024 * 1024;

/**
 * Answers prepared content, and keeps what it prepared by a hash of what it was prepared from. Beyond `maxBytes` the least
 * recently used are let go.
 */
export function contentCache(
  links: LinkSettings,
  maxBytes = defaultCacheBytes,
): (source: ContentSource) => PreparedContent {
  const entries = new LRUCache<string, PreparedContent>({ maxSize: maxBytes });
  let last: { source: ContentSource; content: PreparedContent } | null = null;

  return (source) => {
    if (last === null || !areEqual(last.source, source)) last = { source: { ...source }, content: find(source) };
    return last.content;
  };

  function find(source: ContentSource): PreparedContent {
    const key = keyOf(source);
    const known = entries.get(key);
    if (known !== undefined) return known;
    const content = prepareContent(source, links);
    entries.set(key, content, { size: sizeOf(source) });
    return content;
  }
}

// Messages of one campaign come one after another, and to hash a body costs more than to render it.
function areEqual(a: ContentSource, b: ContentSource): boolean {
  return (
    a.body === b.body &&
    a.text === b.text &&
    a.subject === b.subject &&
    a.messageClass === b.messageClass &&
    a.projectName === b.projectName &&
    a.language === b.language &&
    a.escapeContactData === b.escapeContactData &&
    a.findsSimilarFields === b.findsSimilarFields &&
    a.isTest === b.isTest
  );
}

function keyOf(source: ContentSource): string {
  const { subject, body, text, messageClass, projectName, language, escapeContactData, isTest = false } = source;
  const { findsSimilarFields = false } = source;
  const facts = [
    subject,
    body,
    text,
    messageClass,
    projectName,
    language,
    escapeContactData,
    isTest,
    findsSimilarFields,
  ];
  return hash('sha256', JSON.stringify(facts), 'base64');
}

function sizeOf({ subject, body, text }: ContentSource): number {
  return bytesPerEntry + bytesPerCharacter * (subject.length + body.length + (text?.length ?? 0));
}

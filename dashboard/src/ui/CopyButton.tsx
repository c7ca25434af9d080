import { Check, Copy as Icon } from 'lucide-react';
import { useState } from 'react';
import { Button } from './Button.tsx';

// Browsers give the clipboard to pages with TLS alone; on others the old way is left.
async function put(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const pressed = document.activeElement as HTMLElement | null;
  const place = document.createElement('textarea');
  place.value = text;
  // Beside the button, because a dialog takes the focus back from what is not in it.
  (pressed?.parentElement ?? document.body).append(place);
  place.select();
  document.execCommand('copy');
  place.remove();
  pressed?.focus();
}

/** Copies a text; `what` names it for those who do not see the text beside it. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await put(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Button size="small" onClick={() => void copy()} aria-label={copied ? `${what} copied` : `Copy ${what}`}>
      {copied ? <Check aria-hidden /> : <Icon aria-hidden />}
      {copied ? 'Copied' : 'Copy'}
    </Button>
  );
}

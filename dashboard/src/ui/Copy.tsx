import { Check, Copy as Icon } from 'lucide-react';
import { useState } from 'react';
import { Button } from './Button.tsx';

/** Copies a text; `what` names it for those who do not see the text beside it. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
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

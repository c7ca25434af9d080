import { type Brand, compileEmail, type EmailDocument } from '@fernpost/email-document';
import { useCallback, useMemo, useState } from 'react';
import { inAppearance } from './appearance.ts';
import { sampled } from './starters/sample.ts';

/** Pixels that the email is laid out for before it is scaled down, as `.layout-picture` says. */
const laidOut = 640;

/**
 * A picture of an email: the email itself, compiled as it would be sent and scaled down. It is drawn once it comes near the window,
 * and is for the eye only; the button beside it says what it shows.
 */
export function Thumbnail({
  document,
  brand,
  icons,
}: {
  document: EmailDocument;
  brand: Brand;
  icons?: string | undefined;
}) {
  const [scale, setScale] = useState<number | null>(null);
  const isNear = scale !== null;
  const html = useMemo(
    () => (isNear ? inAppearance(compileEmail(sampled(document), brand, icons), 'light') : ''),
    [isNear, document, brand, icons],
  );
  const measure = useCallback((element: HTMLDivElement | null) => {
    if (element === null) return;
    const size = new ResizeObserver(() => setScale(element.clientWidth / laidOut));
    const near = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        near.disconnect();
        size.observe(element);
      },
      { rootMargin: '200px' },
    );
    near.observe(element);
    return () => {
      near.disconnect();
      size.disconnect();
    };
  }, []);
  return (
    <div ref={measure} className="layout-picture scheme-light" inert style={{ background: brand.backgroundColor }}>
      {scale === null ? null : (
        <iframe
          title="Picture of the layout"
          // Nothing in a mail may run, open windows or send forms here.
          sandbox=""
          srcDoc={html}
          style={{ transform: `scale(${scale})` }}
        />
      )}
    </div>
  );
}

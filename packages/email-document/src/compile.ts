import { conditionTags, escapeText, onDark, output, readableOn, repeatTags } from './liquid.ts';
import { type Block, type Brand, type EmailDocument, fonts, type Inline } from './schema.ts';

/** Pixels that a mail is wide where there is room, and between its edge and its text. */
const width = 600;
const padding = 32;

/**
 * The HTML of an email: tables for layout, styles inlined, so that clients without style sheets (Gmail for other accounts,
 * Outlook for Windows) show it alike. A style sheet only adds what the others can do: columns below one another on phones, and
 * dark colors; Outlook for Windows, which draws mail as Word does, gets what it needs in comments for it alone. Liquid stays Liquid. `iconsUrl` is where the images of `icons/` are served; without it social links are words.
 */
export function compileEmail(document: EmailDocument, brand: Brand, iconsUrl?: string): string {
  const style = { ...stylesOf(brand), iconsUrl };
  const blocks = compileBlocks(document.content, style);
  return `<!doctype html>
<html lang="en" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title></title>
${forWord(brand)}
${styleSheet(brand)}
</head>
<body class="ph-page" style="margin:0;padding:0;background-color:${brand.backgroundColor};-webkit-text-size-adjust:100%">
${preheader(document.preheader)}${table(
  `class="ph-page" bgcolor="${brand.backgroundColor}"`,
  `<tr><td align="center" style="padding:24px 12px 8px">
<!--[if mso]><table role="presentation" width="${width}" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
${table(
  `class="ph-card" bgcolor="#ffffff"`,
  `${logo(brand)}<tr><td class="ph-pad ph-text" align="left" style="padding:${padding}px ${padding}px 16px;${style.text}">
${blocks}
</td></tr>`,
  `max-width:${width}px;background-color:#ffffff;border-radius:8px`,
)}
${footer(brand, style)}<!--[if mso]></td></tr></table><![endif]-->
</td></tr>`,
  `background-color:${brand.backgroundColor}`,
)}
</body>
</html>
`;
}

interface Styles {
  brand: Brand;
  /** Pixels that a block may be wide: Outlook for Windows makes a table as wide as the images in it. */
  room: number;
  /** Of every text. */
  text: string;
  link: string;
  iconsUrl?: string | undefined;
}

function stylesOf(brand: Brand): Styles {
  const font = `font-family:${fonts[brand.font]}`;
  return {
    brand,
    room: width - 2 * padding,
    text: `${font};font-size:16px;line-height:1.6;color:${brand.textColor}`,
    link: `color:${readsOnWhite(brand.primaryColor) ? brand.primaryColor : brand.textColor};text-decoration:underline`,
  };
}

function readsOnWhite(color: string): boolean {
  return readableOn(color) === '#ffffff';
}

/**
 * What only Outlook for Windows reads: images in CSS pixels on dense screens, tables without gaps, the font of the brand where it would
 * fall back to Times, and lists that are indented by a margin, for it ignores their padding.
 */
function forWord({ font }: Brand): string {
  const known = font === 'System' ? fonts.Arial : fonts[font];
  return `<!--[if mso]><xml><o:OfficeDocumentSettings><o:AllowPNG/><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml>
<style>
table, td { border-collapse: collapse; mso-table-lspace: 0pt; mso-table-rspace: 0pt; }
td, p, li, a, h1, h2, h3 { font-family: ${known} !important; }
ul, ol { margin-left: 24px !important; }
</style><![endif]-->`;
}

function styleSheet({ primaryColor, backgroundColor }: Brand): string {
  const onPage = readsOnWhite(backgroundColor) ? '.ph-muted { color: #d4d4d8 !important; }\n' : '';
  return `<style>
${onPage}@media (max-width: 480px) {
  .ph-pad { padding-left: 20px !important; padding-right: 20px !important; }
  .ph-column { display: block !important; width: 100% !important; padding-left: 0 !important; padding-right: 0 !important; box-sizing: border-box; }
}
@media (prefers-color-scheme: dark) {
  .ph-page { background-color: #111113 !important; }
  .ph-card { background-color: #1c1c1f !important; }
  .ph-text { color: #ededef !important; }
  .ph-muted { color: #a9a9b2 !important; }
  .ph-link { color: ${onDark(primaryColor)} !important; }
  .ph-line { border-color: #3a3a40 !important; }
  .ph-panel { background-color: #27272b !important; }
  .ph-code { background-color: #2a2a2f !important; }
}
</style>`;
}

// Inboxes show this text behind the subject; the blanks keep them from continuing with the text of the mail.
function preheader(text: string): string {
  if (text.trim() === '') return '';
  const hidden =
    'display:none;mso-hide:all;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px;color:transparent';
  return `<div style="${hidden}">${escapeText(text)}${'&#847;&zwnj;&nbsp;'.repeat(40)}</div>\n`;
}

function logo({ logoUrl, logoAlt }: Brand): string {
  if (!logoUrl) return '';
  const image = `<img src="${escapeText(logoUrl)}" alt="${escapeText(logoAlt)}" height="40" style="display:block;height:40px;width:auto;max-width:100%;border:0">`;
  return `<tr><td class="ph-pad" align="left" style="padding:28px 32px 0">${image}</td></tr>\n`;
}

function footer({ footer: lines, postalAddress }: Brand, { brand }: Styles): string {
  const parts = [lines, postalAddress].filter((part) => part.trim() !== '');
  if (parts.length === 0) return '';
  const muted = readsOnWhite(brand.backgroundColor) ? '#d4d4d8' : '#52525b';
  const style = `margin:0 0 8px;font-family:${fonts[brand.font]};font-size:12px;line-height:1.5;color:${muted}`;
  const paragraphs = parts.map(
    (part) => `<p class="ph-muted" style="${style}">${escapeText(part).replaceAll(/\r?\n/g, '<br>')}</p>`,
  );
  return `${table('', `<tr><td class="ph-pad" align="center" style="padding:24px 32px 0">${paragraphs.join('\n')}</td></tr>`, `max-width:${width}px`)}\n`;
}

function table(attributes: string, rows: string, style = ''): string {
  const own = `${attributes === '' ? '' : ` ${attributes}`}${style === '' ? '' : ` style="${style}"`}`;
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"${own}>${rows}</table>`;
}

/** A table with one cell. */
function cell(content: string, style: string, align = 'left'): string {
  return table('', `<tr><td align="${align}" style="${style}">${content}</td></tr>`);
}

function compileBlocks(blocks: readonly Block[], styles: Styles): string {
  return blocks.map((block) => compileBlock(block, styles)).join('\n');
}

const headingSizes = { 1: 28, 2: 22, 3: 18 };

function compileBlock(block: Block, styles: Styles): string {
  const { text, brand, iconsUrl } = styles;
  switch (block.type) {
    case 'paragraph': {
      const content = compileInline(block.content, styles);
      return `<p class="ph-text" style="margin:0 0 16px;${text}${alignment(block.attrs.align)}">${content || '&nbsp;'}</p>`;
    }
    case 'heading': {
      const { level, align } = block.attrs;
      const own = `font-size:${headingSizes[level]}px;line-height:1.3;font-weight:700`;
      const style = `margin:${level === 1 ? '0' : '8px'} 0 12px;${text};${own}${alignment(align)}`;
      return `<h${level} class="ph-text" style="${style}">${compileInline(block.content, styles)}</h${level}>`;
    }
    case 'bulletList':
    case 'orderedList':
      return compileList(block, styles);
    case 'image': {
      const { src, alt, width: own, href, align, decorative } = block.attrs;
      const size =
        own === null
          ? `width="${styles.room}" style="display:block;width:100%`
          : `width="${Math.min(own, styles.room)}" style="display:inline-block;width:${own}px`;
      const image = `<img src="${escapeText(src)}" alt="${decorative ? '' : escapeText(alt)}" ${size};max-width:100%;height:auto;border:0">`;
      return cell(href === '' ? image : `<a href="${escapeText(href)}">${image}</a>`, 'padding:0 0 16px', align);
    }
    case 'button': {
      const { label, href, align } = block.attrs;
      const { primaryColor, font } = brand;
      const link = `display:inline-block;padding:12px 24px;font-family:${fonts[font]};font-size:16px;line-height:1.25;font-weight:600;color:${readableOn(primaryColor)};text-decoration:none;border-radius:6px`;
      const inner = `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="display:inline-table"><tr><td align="center" bgcolor="${primaryColor}" style="border-radius:6px;background-color:${primaryColor};mso-padding-alt:12px 24px"><a href="${escapeText(href)}" style="${link};mso-padding-alt:0">${escapeText(label)}</a></td></tr></table>`;
      return cell(inner, 'padding:8px 0 24px', align);
    }
    case 'divider':
      return cell(
        table(
          '',
          '<tr><td class="ph-line" style="border-top:1px solid #e4e4e7;font-size:1px;line-height:1px;mso-line-height-rule:exactly">&nbsp;</td></tr>',
        ),
        'padding:8px 0 24px',
      );
    case 'spacer': {
      const { height } = block.attrs;
      return table(
        '',
        `<tr><td height="${height}" style="height:${height}px;font-size:1px;line-height:${height}px;mso-line-height-rule:exactly">&nbsp;</td></tr>`,
      );
    }
    case 'social': {
      const { links, align } = block.attrs;
      const shown = links.map(({ network, href }) => {
        const what = iconsUrl === undefined ? network : icon(iconsUrl, network);
        return `<a class="ph-link" href="${escapeText(href)}" style="${styles.link}">${what}</a>`;
      });
      const gap = iconsUrl === undefined ? ' &nbsp;&middot;&nbsp; ' : '&nbsp; ';
      return `<p class="ph-text" style="margin:0 0 16px;${text};font-size:14px${alignment(align)}">${shown.join(gap)}</p>`;
    }
    case 'html':
      return block.attrs.code;
    case 'columns':
      return compileColumns(block, styles);
    case 'conditional': {
      const { open, close } = conditionTags(block.attrs);
      return `${open}\n${compileBlocks(block.content, styles)}\n${close}`;
    }
    case 'repeat': {
      const { open, close } = repeatTags(block.attrs);
      return `${open}\n${compileBlocks(block.content, styles)}\n${close}`;
    }
  }
}

// The alternative text is what is shown where images are blocked.
function icon(iconsUrl: string, network: string): string {
  return `<img src="${iconsUrl}/${network.toLowerCase()}.png" alt="${network}" width="32" height="32" style="display:inline-block;width:32px;height:32px;border:0;vertical-align:middle">`;
}

function alignment(align: string | undefined): string {
  return align === undefined || align === 'left' ? '' : `;text-align:${align}`;
}

function compileList(
  list: Extract<Block, { type: 'bulletList' | 'orderedList' }>,
  styles: Styles,
  nested = false,
): string {
  const tag = list.type === 'bulletList' ? 'ul' : 'ol';
  const items = list.content.map(({ content }) => {
    const parts = content.map((part) =>
      part.type === 'paragraph' ? compileInline(part.content, styles) : compileList(part, styles, true),
    );
    return `<li class="ph-text" style="margin:0 0 6px;${styles.text}">${parts.join('<br>').replaceAll(/<br>(?=<[uo]l )/g, '')}</li>`;
  });
  return `<${tag} style="margin:${nested ? '6px 0 0' : '0 0 16px'};padding:0 0 0 24px">${items.join('')}</${tag}>`;
}

function compileColumns({ content, attrs }: Extract<Block, { type: 'columns' }>, styles: Styles): string {
  const share = Math.floor(100 / content.length);
  const inPanel = attrs?.panel ? 40 : 0;
  const cells = content.map(({ content: blocks }, index) => {
    const [left, right] = [index === 0 ? 0 : 8, index === content.length - 1 ? 0 : 8];
    const room = Math.floor(((styles.room - inPanel) * share) / 100) - left - right;
    return `<td${attrs?.stack === false ? '' : ' class="ph-column"'} width="${share}%" valign="top" align="left" style="width:${share}%;padding:0 ${right}px 0 ${left}px">${compileBlocks(blocks, { ...styles, room })}</td>`;
  });
  const columns = table('', `<tr>${cells.join('\n')}</tr>`);
  if (!attrs?.panel) return columns;
  const panel = `<tr><td class="ph-panel" bgcolor="#f4f4f5" style="padding:20px 20px 4px;background-color:#f4f4f5;border-radius:8px">${columns}</td></tr>`;
  return cell(table('', panel), 'padding:8px 0 24px');
}

const markTags = { bold: 'strong', italic: 'em', underline: 'u', strike: 's' } as const;

function compileInline(content: readonly Inline[], styles: Styles): string {
  return content.map((part) => compilePart(part, styles)).join('');
}

function compilePart(part: Inline, { link }: Styles): string {
  if (part.type === 'hardBreak') return '<br>';
  let html = part.type === 'text' ? escapeText(part.text) : output(part.attrs.name, part.attrs.fallback);
  for (const mark of part.marks ?? [])
    if (mark.type === 'link')
      html = `<a class="ph-link" href="${escapeText(mark.attrs.href)}" style="${link}">${html}</a>`;
    else if (mark.type === 'code')
      html = `<code class="ph-code" style="font-family:${fonts.Courier};font-size:14px;background-color:#f4f4f5;padding:2px 4px;border-radius:4px">${html}</code>`;
    else html = `<${markTags[mark.type]}>${html}</${markTags[mark.type]}>`;
  return html;
}

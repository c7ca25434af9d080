import { escapeHtml } from '@fernpost/renderer';
import type { Language } from './pages.ts';

/** The parts of a project's brand kit that its recipient pages show. */
export interface PageBrand {
  /** Address of the logo; null shows the project's name. */
  logoUrl: string | null;
  /** Says what the logo shows; the project's name where it is empty. */
  logoAlt: string;
  /** `#rrggbb`, of buttons and links. */
  primaryColor: string;
  /** A list of font families as CSS has it, of the service's own and never of a stranger. */
  fontFamily: string;
  /** Lines below the page. */
  postalAddress: string;
}

// The grounds of page-style.ts that text stands on.
const papers = { light: '#ffffff', dark: '#1c2128' } as const;
const leastContrast = 4.5;

/**
 * The style sheet of a brand: its font, and its color as links and buttons have it in each theme, led away from the ground until it
 * has the contrast that text needs (WCAG 2.2, 1.4.3).
 */
export function brandStyle({ primaryColor, fontFamily }: PageBrand): string {
  const colors = (theme: keyof typeof papers) => {
    const accent = readableColor(papers[theme], primaryColor);
    return `:root{--accent:${accent};--onaccent:${contrast(accent, '#ffffff') >= leastContrast ? '#ffffff' : '#0b1420'}}`;
  };
  return `${colors('light')}\n@media (prefers-color-scheme:dark){${colors('dark')}}\nbody{font-family:${fontFamily}}`;
}

/** The color, or the nearest on its way to black or white that can be read on the ground. Anything but `#rrggbb` is read as black. */
export function readableColor(ground: string, color: string): string {
  const from = channels(color);
  const end = luminance(channels(ground)) > 0.5 ? 0 : 255;
  for (let step = 0; step <= 20; step++) {
    const mixed = hex(from.map((value) => value + ((end - value) * step) / 20));
    if (contrast(mixed, ground) >= leastContrast) return mixed;
  }
  return hex([end, end, end]);
}

/** The contrast of two colors, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(channels(one)), luminance(channels(other))].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(color: string): number[] {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
  return found === null ? [0, 0, 0] : found.slice(1).map((pair) => Number.parseInt(pair, 16));
}

const hex = (color: readonly number[]) =>
  `#${color.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;

/**
 * The logo as a page may load it: http and https alone, and written so that it stands in a policy as one source. Null where there is
 * none.
 */
export function logoOf(brand: PageBrand | null): string | null {
  const url = brand?.logoUrl ? URL.parse(brand.logoUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  // In a policy, `;` and `,` end a directive or the policy, and a query is no part of a source.
  return /[;,\s'"]/.test(url.href) ? null : url.href;
}

// Why the recipient gets the mail, `{project}` being the project's name; the two links.
const texts: Record<Language, readonly [reason: string, unsubscribe: string, preferences: string]> = {
  en: ['You are receiving this email because you are subscribed to {project}.', 'Unsubscribe', 'Email preferences'],
  nl: ['U ontvangt deze e-mail omdat u bent ingeschreven bij {project}.', 'Uitschrijven', 'E-mailvoorkeuren'],
  fr: ['Vous recevez cet e-mail car vous êtes inscrit auprès de {project}.', 'Se désabonner', 'Préférences e-mail'],
  de: ['Sie erhalten diese E-Mail, weil Sie bei {project} angemeldet sind.', 'Abmelden', 'E-Mail-Einstellungen'],
  es: ['Recibe este correo porque está suscrito a {project}.', 'Cancelar suscripción', 'Preferencias de correo'],
  it: ['Riceve questa email perché è iscritto a {project}.', 'Annulla iscrizione', 'Preferenze email'],
  pt: ['Recebeu este e-mail porque está inscrito em {project}.', 'Cancelar inscrição', 'Preferências de e-mail'],
  pl: ['Otrzymujesz tę wiadomość, ponieważ subskrybujesz {project}.', 'Wypisz się', 'Ustawienia wiadomości'],
  cs: ['Tento e-mail dostáváte, protože odebíráte zprávy od {project}.', 'Odhlásit odběr', 'Nastavení e-mailů'],
  bg: ['Получавате този имейл, защото сте абонирани за {project}.', 'Отписване', 'Настройки за имейли'],
  hi: ['आपको यह ईमेल इसलिए मिला है क्योंकि आपने {project} की सदस्यता ली है।', 'सदस्यता छोड़ें', 'ईमेल प्राथमिकताएँ'],
  'zh-CN': ['您收到此邮件，是因为您订阅了 {project}。', '退订', '邮件偏好设置'],
  'zh-TW': ['您收到這封電子郵件，是因為您訂閱了 {project}。', '取消訂閱', '電子郵件偏好設定'],
  'zh-HK': ['您收到此電郵，是因為您訂閱了 {project}。', '取消訂閱', '電郵偏好設定'],
};

// Reads on white, on the light gray around emails written as blocks, and just about on black; the class is that of their style sheet.
const color = '#686f7d';
const boxStyle =
  'margin:16px auto 0;padding:16px;max-width:600px;font-family:Helvetica,Arial,sans-serif;font-size:12px;' +
  `line-height:1.5;color:${color};text-align:center`;

/**
 * The footer of marketing mail, as a template: it names the project and links the recipient's pages. Its links carry
 * Postmark's `data-pm-no-track`, so that they are not rewritten for click tracking.
 */
export function footerSource(language: Language, projectName: string): string {
  const [reason, unsubscribe, preferences] = texts[language];
  // The name is text: neither its markup nor its braces mean anything.
  const name = escapeHtml(projectName).replaceAll('{', '&#123;');
  const link = (url: string, label: string) =>
    `<a data-pm-no-track href="{{ ${url} }}" class="ph-muted" style="color:${color}">${label}</a>`;
  return (
    `<div lang="${language}" class="ph-muted" style="${boxStyle}"><p style="margin:0">${reason.replace('{project}', () => name)}</p>` +
    `<p style="margin:0">${link('unsubscribeUrl', unsubscribe)} &middot; ${link('manageUrl', preferences)}</p></div>\n`
  );
}

import { escapeHtml } from '@fernpost/renderer';
import type { Language } from './languages.ts';

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

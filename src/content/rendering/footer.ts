import { escapeHtml } from '@posthorn/renderer';
import type { Language } from '../../core/lib/languages.ts';

interface FooterTexts {
  /** `{project}` stands for the project's name. */
  reason: string;
  unsubscribe: string;
  preferences: string;
}

const texts: Record<Language, FooterTexts> = {
  en: {
    reason: 'You are receiving this email because you are subscribed to {project}.',
    unsubscribe: 'Unsubscribe',
    preferences: 'Email preferences',
  },
  nl: {
    reason: 'U ontvangt deze e-mail omdat u bent ingeschreven bij {project}.',
    unsubscribe: 'Uitschrijven',
    preferences: 'E-mailvoorkeuren',
  },
  fr: {
    reason: 'Vous recevez cet e-mail car vous êtes inscrit auprès de {project}.',
    unsubscribe: 'Se désabonner',
    preferences: 'Préférences e-mail',
  },
  de: {
    reason: 'Sie erhalten diese E-Mail, weil Sie bei {project} angemeldet sind.',
    unsubscribe: 'Abmelden',
    preferences: 'E-Mail-Einstellungen',
  },
  es: {
    reason: 'Recibe este correo porque está suscrito a {project}.',
    unsubscribe: 'Cancelar suscripción',
    preferences: 'Preferencias de correo',
  },
  it: {
    reason: 'Riceve questa email perché è iscritto a {project}.',
    unsubscribe: 'Annulla iscrizione',
    preferences: 'Preferenze email',
  },
  pt: {
    reason: 'Recebeu este e-mail porque está inscrito em {project}.',
    unsubscribe: 'Cancelar inscrição',
    preferences: 'Preferências de e-mail',
  },
  pl: {
    reason: 'Otrzymujesz tę wiadomość, ponieważ subskrybujesz {project}.',
    unsubscribe: 'Wypisz się',
    preferences: 'Ustawienia wiadomości',
  },
  cs: {
    reason: 'Tento e-mail dostáváte, protože odebíráte zprávy od {project}.',
    unsubscribe: 'Odhlásit odběr',
    preferences: 'Nastavení e-mailů',
  },
  bg: {
    reason: 'Получавате този имейл, защото сте абонирани за {project}.',
    unsubscribe: 'Отписване',
    preferences: 'Настройки за имейли',
  },
  hi: {
    reason: 'आपको यह ईमेल इसलिए मिला है क्योंकि आपने {project} की सदस्यता ली है।',
    unsubscribe: 'सदस्यता छोड़ें',
    preferences: 'ईमेल प्राथमिकताएँ',
  },
  'zh-CN': {
    reason: '您收到此邮件，是因为您订阅了 {project}。',
    unsubscribe: '退订',
    preferences: '邮件偏好设置',
  },
  'zh-TW': {
    reason: '您收到這封電子郵件，是因為您訂閱了 {project}。',
    unsubscribe: '取消訂閱',
    preferences: '電子郵件偏好設定',
  },
  'zh-HK': {
    reason: '您收到此電郵，是因為您訂閱了 {project}。',
    unsubscribe: '取消訂閱',
    preferences: '電郵偏好設定',
  },
};

const boxStyle =
  'margin:32px auto 0;padding:16px;max-width:600px;font-family:Helvetica,Arial,sans-serif;font-size:12px;' +
  'line-height:1.5;color:#6b7280;text-align:center';

/**
 * The footer of marketing mail, as a template: it names the project and links the recipient's pages. Its links carry
 * Postmark's `data-pm-no-track`, so that they are not rewritten for click tracking.
 */
export function footerSource(language: Language, projectName: string): string {
  const { reason, unsubscribe, preferences } = texts[language];
  // The name is text: neither its markup nor its braces mean anything.
  const name = escapeHtml(projectName).replaceAll('{', '&#123;');
  const link = (url: string, label: string) =>
    `<a data-pm-no-track href="{{ ${url} }}" style="color:#6b7280">${label}</a>`;
  return (
    `<div lang="${language}" style="${boxStyle}"><p style="margin:0">${reason.replace('{project}', () => name)}</p>` +
    `<p style="margin:0">${link('unsubscribeUrl', unsubscribe)} &middot; ${link('manageUrl', preferences)}</p></div>\n`
  );
}

import type { Language } from './languages.ts';
import type { PageTexts } from './page-texts.ts';

/** Polish, Czech, Bulgarian, Hindi and Chinese. */
export const easternTexts: Record<Exclude<Language, 'en' | 'nl' | 'fr' | 'de' | 'es' | 'it' | 'pt'>, PageTexts> = {
  pl: {
    unsubscribe: {
      title: 'Wypisz się',
      ask: 'Czy chcesz zrezygnować z wiadomości od {project} na adres {address}?',
      button: 'Wypisz się',
    },
    unsubscribed: {
      title: 'Subskrypcja anulowana',
      text: '{address} nie otrzymuje już tych wiadomości od {project}.',
      offer: 'Czy to pomyłka?',
    },
    subscribe: {
      title: 'Zapisz się',
      ask: 'Czy chcesz otrzymywać wiadomości od {project} na adres {address}?',
      button: 'Zapisz się',
    },
    subscribed: { title: 'Subskrypcja aktywna', text: '{address} otrzymuje wiadomości od {project}.' },
    manage: {
      title: 'Ustawienia wiadomości',
      subscribed: '{address} subskrybuje wiadomości od {project}.',
      unsubscribed: '{address} nie subskrybuje wiadomości od {project}.',
    },
    unknown: {
      title: 'Ten link nie działa',
      text: 'Jest niepełny lub stracił ważność. Otwórz ponownie link z jednej ze swoich wiadomości.',
      leave: 'Mimo to możesz się wypisać:',
    },
    left: { title: 'Gotowe', text: 'Adres, do którego należy ten link, nie będzie już otrzymywać tych wiadomości.' },
    tooMany: { title: 'Zbyt wiele żądań', text: 'Odczekaj minutę i spróbuj ponownie.' },
    failed: { title: 'Coś poszło nie tak', text: 'Nic nie zostało zmienione. Spróbuj ponownie za kilka minut.' },
    footer: 'Widzisz tę stronę, ponieważ {project} wysyła Ci wiadomości.',
    preferences: 'Ustawienia wiadomości',
  },
  cs: {
    unsubscribe: {
      title: 'Odhlásit odběr',
      ask: 'Chcete přestat dostávat e-maily od {project} na adresu {address}?',
      button: 'Odhlásit odběr',
    },
    unsubscribed: {
      title: 'Odběr je odhlášen',
      text: '{address} už tyto e-maily od {project} nedostává.',
      offer: 'Byl to omyl?',
    },
    subscribe: {
      title: 'Přihlásit odběr',
      ask: 'Chcete dostávat e-maily od {project} na adresu {address}?',
      button: 'Přihlásit odběr',
    },
    subscribed: { title: 'Odběr je přihlášen', text: '{address} dostává e-maily od {project}.' },
    manage: {
      title: 'Nastavení e-mailů',
      subscribed: '{address} odebírá e-maily od {project}.',
      unsubscribed: '{address} neodebírá e-maily od {project}.',
    },
    unknown: {
      title: 'Tento odkaz nefunguje',
      text: 'Je neúplný nebo již neplatí. Otevřete prosím odkaz v některém ze svých e-mailů znovu.',
      leave: 'Odběr můžete odhlásit i tak:',
    },
    left: { title: 'Hotovo', text: 'Adresa, ke které tento odkaz patří, už tyto e-maily dostávat nebude.' },
    tooMany: { title: 'Příliš mnoho požadavků', text: 'Počkejte prosím minutu a zkuste to znovu.' },
    failed: { title: 'Něco se nezdařilo', text: 'Nic se nezměnilo. Zkuste to prosím znovu za několik minut.' },
    footer: 'Tuto stránku vidíte, protože vám {project} posílá e-maily.',
    preferences: 'Nastavení e-mailů',
  },
  bg: {
    unsubscribe: {
      title: 'Отписване',
      ask: 'Искате ли да спрете имейлите от {project} до {address}?',
      button: 'Отписване',
    },
    unsubscribed: {
      title: 'Отписахте се',
      text: '{address} вече не получава тези имейли от {project}.',
      offer: 'По погрешка ли беше?',
    },
    subscribe: {
      title: 'Абониране',
      ask: 'Искате ли да получавате имейли от {project} на {address}?',
      button: 'Абониране',
    },
    subscribed: { title: 'Абонирани сте', text: '{address} получава имейли от {project}.' },
    manage: {
      title: 'Настройки за имейли',
      subscribed: '{address} е с абонамент за имейли от {project}.',
      unsubscribed: '{address} няма абонамент за имейли от {project}.',
    },
    unknown: {
      title: 'Тази връзка не работи',
      text: 'Тя е непълна или вече не е валидна. Отворете отново връзката в някой от имейлите си.',
      leave: 'Въпреки това можете да се отпишете:',
    },
    left: { title: 'Готово', text: 'Адресът, към който принадлежи тази връзка, няма да получава повече тези имейли.' },
    tooMany: { title: 'Твърде много заявки', text: 'Изчакайте една минута и опитайте отново.' },
    failed: { title: 'Нещо се обърка', text: 'Нищо не е променено. Опитайте отново след няколко минути.' },
    footer: 'Виждате тази страница, защото {project} ви изпраща имейли.',
    preferences: 'Настройки за имейли',
  },
  hi: {
    unsubscribe: {
      title: 'सदस्यता छोड़ें',
      ask: 'क्या आप {address} पर {project} के ईमेल पाना बंद करना चाहते हैं?',
      button: 'सदस्यता छोड़ें',
    },
    unsubscribed: {
      title: 'आपकी सदस्यता समाप्त हो गई है',
      text: '{address} को अब {project} से ये ईमेल नहीं मिलेंगे।',
      offer: 'क्या यह ग़लती से हुआ?',
    },
    subscribe: {
      title: 'सदस्यता लें',
      ask: 'क्या आप {address} पर {project} के ईमेल पाना चाहते हैं?',
      button: 'सदस्यता लें',
    },
    subscribed: { title: 'आपकी सदस्यता चालू है', text: '{address} को {project} के ईमेल मिलते हैं।' },
    manage: {
      title: 'ईमेल प्राथमिकताएँ',
      subscribed: '{address} पर {project} के ईमेल की सदस्यता चालू है।',
      unsubscribed: '{address} पर {project} के ईमेल की सदस्यता चालू नहीं है।',
    },
    unknown: {
      title: 'यह लिंक काम नहीं करता',
      text: 'यह अधूरा है या अब मान्य नहीं है। कृपया अपने किसी ईमेल में दिया गया लिंक फिर से खोलें।',
      leave: 'आप फिर भी सदस्यता छोड़ सकते हैं:',
    },
    left: { title: 'हो गया', text: 'जिस पते का यह लिंक है, उसे अब ये ईमेल नहीं मिलेंगे।' },
    tooMany: { title: 'बहुत अधिक अनुरोध', text: 'कृपया एक मिनट रुकें, फिर दोबारा कोशिश करें।' },
    failed: { title: 'कुछ गड़बड़ हो गई', text: 'कुछ भी नहीं बदला गया है। कृपया कुछ मिनट बाद दोबारा कोशिश करें।' },
    footer: 'आप यह पेज इसलिए देख रहे हैं क्योंकि {project} आपको ईमेल भेजता है।',
    preferences: 'ईमेल प्राथमिकताएँ',
  },
  'zh-CN': {
    unsubscribe: { title: '退订', ask: '您要停止 {project} 发送到 {address} 的邮件吗？', button: '退订' },
    unsubscribed: {
      title: '您已退订',
      text: '{address} 不会再收到 {project} 的此类邮件。',
      offer: '操作有误？',
    },
    subscribe: { title: '订阅', ask: '您要用 {address} 接收 {project} 的邮件吗？', button: '订阅' },
    subscribed: { title: '您已订阅', text: '{address} 会收到 {project} 的邮件。' },
    manage: {
      title: '邮件偏好设置',
      subscribed: '{address} 已订阅 {project} 的邮件。',
      unsubscribed: '{address} 未订阅 {project} 的邮件。',
    },
    unknown: {
      title: '此链接无法使用',
      text: '链接不完整或已失效。请重新打开您邮件中的链接。',
      leave: '您仍然可以退订：',
    },
    left: { title: '已完成', text: '此链接所属的地址不会再收到此类邮件。' },
    tooMany: { title: '请求过多', text: '请等待一分钟后再试。' },
    failed: { title: '出错了', text: '未作任何更改。请几分钟后再试。' },
    footer: '您看到此页面，是因为 {project} 向您发送邮件。',
    preferences: '邮件偏好设置',
  },
  'zh-TW': {
    unsubscribe: { title: '取消訂閱', ask: '您要停止 {project} 寄到 {address} 的電子郵件嗎？', button: '取消訂閱' },
    unsubscribed: {
      title: '您已取消訂閱',
      text: '{address} 不會再收到 {project} 的這類電子郵件。',
      offer: '操作有誤嗎？',
    },
    subscribe: { title: '訂閱', ask: '您要用 {address} 接收 {project} 的電子郵件嗎？', button: '訂閱' },
    subscribed: { title: '您已訂閱', text: '{address} 會收到 {project} 的電子郵件。' },
    manage: {
      title: '電子郵件偏好設定',
      subscribed: '{address} 已訂閱 {project} 的電子郵件。',
      unsubscribed: '{address} 未訂閱 {project} 的電子郵件。',
    },
    unknown: {
      title: '此連結無法使用',
      text: '連結不完整或已失效。請重新開啟您電子郵件中的連結。',
      leave: '您仍然可以取消訂閱：',
    },
    left: { title: '已完成', text: '此連結所屬的地址不會再收到這類電子郵件。' },
    tooMany: { title: '要求過多', text: '請等候一分鐘後再試。' },
    failed: { title: '發生錯誤', text: '未做任何變更。請幾分鐘後再試。' },
    footer: '您看到此頁面，是因為 {project} 寄送電子郵件給您。',
    preferences: '電子郵件偏好設定',
  },
  'zh-HK': {
    unsubscribe: { title: '取消訂閱', ask: '您要停止 {project} 寄往 {address} 的電郵嗎？', button: '取消訂閱' },
    unsubscribed: {
      title: '您已取消訂閱',
      text: '{address} 不會再收到 {project} 的這類電郵。',
      offer: '操作有誤嗎？',
    },
    subscribe: { title: '訂閱', ask: '您要用 {address} 接收 {project} 的電郵嗎？', button: '訂閱' },
    subscribed: { title: '您已訂閱', text: '{address} 會收到 {project} 的電郵。' },
    manage: {
      title: '電郵偏好設定',
      subscribed: '{address} 已訂閱 {project} 的電郵。',
      unsubscribed: '{address} 未訂閱 {project} 的電郵。',
    },
    unknown: {
      title: '此連結無法使用',
      text: '連結不完整或已失效。請重新開啟您電郵中的連結。',
      leave: '您仍然可以取消訂閱：',
    },
    left: { title: '已完成', text: '此連結所屬的地址不會再收到這類電郵。' },
    tooMany: { title: '要求過多', text: '請等候一分鐘後再試。' },
    failed: { title: '發生錯誤', text: '未作任何更改。請幾分鐘後再試。' },
    footer: '您看到此頁面，是因為 {project} 向您發送電郵。',
    preferences: '電郵偏好設定',
  },
};

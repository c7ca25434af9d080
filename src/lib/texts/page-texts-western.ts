import type { Language, PageTexts } from './pages.ts';

/** English, Dutch, French, German, Spanish, Italian and Portuguese. */
export const westernTexts: Record<Extract<Language, 'en' | 'nl' | 'fr' | 'de' | 'es' | 'it' | 'pt'>, PageTexts> = {
  en: {
    unsubscribe: {
      title: 'Unsubscribe',
      ask: 'Stop sending emails from {project} to {address}?',
      button: 'Unsubscribe',
    },
    unsubscribed: {
      title: 'You have been unsubscribed',
      text: '{address} will no longer receive these emails from {project}.',
      offer: 'Unsubscribed by mistake?',
    },
    subscribe: {
      title: 'Subscribe',
      ask: 'Receive emails from {project} at {address}?',
      button: 'Subscribe',
    },
    subscribed: { title: 'You are subscribed', text: '{address} will receive emails from {project}.' },
    manage: {
      title: 'Email preferences',
      subscribed: '{address} is subscribed to emails from {project}.',
      unsubscribed: '{address} is not subscribed to emails from {project}.',
    },
    unknown: {
      title: 'This link doesn’t work',
      text: 'It is incomplete or no longer valid. Please open the link in one of your emails again.',
      leave: 'You can still unsubscribe:',
    },
    left: { title: 'Done', text: 'The address of this link will no longer receive these emails.' },
    tooMany: { title: 'Too many requests', text: 'Please wait a minute, then try again.' },
    failed: { title: 'Something went wrong', text: 'Nothing was changed. Please try again in a few minutes.' },
    footer: 'You are seeing this page because {project} sends you emails.',
    preferences: 'Email preferences',
  },
  nl: {
    unsubscribe: {
      title: 'Uitschrijven',
      ask: 'Wilt u de e-mails van {project} aan {address} stopzetten?',
      button: 'Uitschrijven',
    },
    unsubscribed: {
      title: 'U bent uitgeschreven',
      text: '{address} ontvangt deze e-mails van {project} niet meer.',
      offer: 'Was dit een vergissing?',
    },
    subscribe: {
      title: 'Inschrijven',
      ask: 'Wilt u e-mails van {project} ontvangen op {address}?',
      button: 'Inschrijven',
    },
    subscribed: { title: 'U bent ingeschreven', text: '{address} ontvangt e-mails van {project}.' },
    manage: {
      title: 'E-mailvoorkeuren',
      subscribed: '{address} is ingeschreven voor e-mails van {project}.',
      unsubscribed: '{address} is niet ingeschreven voor e-mails van {project}.',
    },
    unknown: {
      title: 'Deze link werkt niet',
      text: 'De link is onvolledig of niet meer geldig. Open de link in een van uw e-mails opnieuw.',
      leave: 'U kunt zich toch uitschrijven:',
    },
    left: { title: 'Gelukt', text: 'Het adres waarbij deze link hoort, ontvangt deze e-mails niet meer.' },
    tooMany: { title: 'Te veel verzoeken', text: 'Wacht een minuut en probeer het dan opnieuw.' },
    failed: { title: 'Er ging iets mis', text: 'Er is niets gewijzigd. Probeer het over enkele minuten opnieuw.' },
    footer: 'U ziet deze pagina omdat {project} u e-mails stuurt.',
    preferences: 'E-mailvoorkeuren',
  },
  fr: {
    unsubscribe: {
      title: 'Se désabonner',
      ask: 'Voulez-vous ne plus recevoir les e-mails de {project} à l’adresse {address} ?',
      button: 'Se désabonner',
    },
    unsubscribed: {
      title: 'Vous êtes désabonné',
      text: '{address} ne reçoit plus ces e-mails de {project}.',
      offer: 'Est-ce une erreur ?',
    },
    subscribe: {
      title: 'S’abonner',
      ask: 'Voulez-vous recevoir les e-mails de {project} à l’adresse {address} ?',
      button: 'S’abonner',
    },
    subscribed: { title: 'Vous êtes abonné', text: '{address} reçoit les e-mails de {project}.' },
    manage: {
      title: 'Préférences e-mail',
      subscribed: '{address} est abonné aux e-mails de {project}.',
      unsubscribed: '{address} n’est pas abonné aux e-mails de {project}.',
    },
    unknown: {
      title: 'Ce lien ne fonctionne pas',
      text: 'Il est incomplet ou n’est plus valide. Veuillez ouvrir à nouveau le lien dans l’un de vos e-mails.',
      leave: 'Vous pouvez tout de même vous désabonner :',
    },
    left: { title: 'C’est fait', text: 'L’adresse à laquelle ce lien appartient ne recevra plus ces e-mails.' },
    tooMany: { title: 'Trop de demandes', text: 'Veuillez patienter une minute, puis réessayer.' },
    failed: {
      title: 'Une erreur est survenue',
      text: 'Rien n’a été modifié. Veuillez réessayer dans quelques minutes.',
    },
    footer: 'Vous voyez cette page car {project} vous envoie des e-mails.',
    preferences: 'Préférences e-mail',
  },
  de: {
    unsubscribe: {
      title: 'Abmelden',
      ask: 'Möchten Sie die E-Mails von {project} an {address} abbestellen?',
      button: 'Abmelden',
    },
    unsubscribed: {
      title: 'Sie sind abgemeldet',
      text: '{address} erhält diese E-Mails von {project} nicht mehr.',
      offer: 'War das ein Versehen?',
    },
    subscribe: {
      title: 'Anmelden',
      ask: 'Möchten Sie E-Mails von {project} an {address} erhalten?',
      button: 'Anmelden',
    },
    subscribed: { title: 'Sie sind angemeldet', text: '{address} erhält E-Mails von {project}.' },
    manage: {
      title: 'E-Mail-Einstellungen',
      subscribed: '{address} ist für E-Mails von {project} angemeldet.',
      unsubscribed: '{address} ist nicht für E-Mails von {project} angemeldet.',
    },
    unknown: {
      title: 'Dieser Link funktioniert nicht',
      text: 'Er ist unvollständig oder nicht mehr gültig. Bitte öffnen Sie den Link in einer Ihrer E-Mails noch einmal.',
      leave: 'Sie können sich trotzdem abmelden:',
    },
    left: { title: 'Erledigt', text: 'Die Adresse, zu der dieser Link gehört, erhält diese E-Mails nicht mehr.' },
    tooMany: { title: 'Zu viele Anfragen', text: 'Bitte warten Sie eine Minute und versuchen Sie es dann erneut.' },
    failed: {
      title: 'Etwas ist schiefgegangen',
      text: 'Es wurde nichts geändert. Bitte versuchen Sie es in einigen Minuten erneut.',
    },
    footer: 'Sie sehen diese Seite, weil {project} Ihnen E-Mails sendet.',
    preferences: 'E-Mail-Einstellungen',
  },
  es: {
    unsubscribe: {
      title: 'Cancelar suscripción',
      ask: '¿Quiere dejar de recibir los correos de {project} en {address}?',
      button: 'Cancelar suscripción',
    },
    unsubscribed: {
      title: 'Suscripción cancelada',
      text: '{address} ya no recibe estos correos de {project}.',
      offer: '¿Fue un error?',
    },
    subscribe: {
      title: 'Suscribirse',
      ask: '¿Quiere recibir los correos de {project} en {address}?',
      button: 'Suscribirse',
    },
    subscribed: { title: 'Está suscrito', text: '{address} recibe los correos de {project}.' },
    manage: {
      title: 'Preferencias de correo',
      subscribed: '{address} está suscrito a los correos de {project}.',
      unsubscribed: '{address} no está suscrito a los correos de {project}.',
    },
    unknown: {
      title: 'Este enlace no funciona',
      text: 'Está incompleto o ya no es válido. Abra de nuevo el enlace en uno de sus correos.',
      leave: 'Puede cancelar la suscripción de todos modos:',
    },
    left: { title: 'Hecho', text: 'La dirección a la que pertenece este enlace ya no recibirá estos correos.' },
    tooMany: { title: 'Demasiadas solicitudes', text: 'Espere un minuto y vuelva a intentarlo.' },
    failed: { title: 'Algo salió mal', text: 'No se ha cambiado nada. Vuelva a intentarlo en unos minutos.' },
    footer: 'Ve esta página porque {project} le envía correos.',
    preferences: 'Preferencias de correo',
  },
  it: {
    unsubscribe: {
      title: 'Annulla iscrizione',
      ask: 'Vuole smettere di ricevere le email di {project} all’indirizzo {address}?',
      button: 'Annulla iscrizione',
    },
    unsubscribed: {
      title: 'Iscrizione annullata',
      text: '{address} non riceve più queste email da {project}.',
      offer: 'È stato un errore?',
    },
    subscribe: {
      title: 'Iscriviti',
      ask: 'Vuole ricevere le email di {project} all’indirizzo {address}?',
      button: 'Iscriviti',
    },
    subscribed: { title: 'Iscrizione attiva', text: '{address} riceve le email di {project}.' },
    manage: {
      title: 'Preferenze email',
      subscribed: '{address} è iscritto alle email di {project}.',
      unsubscribed: '{address} non è iscritto alle email di {project}.',
    },
    unknown: {
      title: 'Questo link non funziona',
      text: 'È incompleto o non più valido. Apra di nuovo il link in una delle Sue email.',
      leave: 'Può comunque annullare l’iscrizione:',
    },
    left: { title: 'Fatto', text: 'L’indirizzo a cui appartiene questo link non riceverà più queste email.' },
    tooMany: { title: 'Troppe richieste', text: 'Attenda un minuto e riprovi.' },
    failed: { title: 'Qualcosa è andato storto', text: 'Non è stato modificato nulla. Riprovi tra qualche minuto.' },
    footer: 'Vede questa pagina perché {project} Le invia email.',
    preferences: 'Preferenze email',
  },
  pt: {
    unsubscribe: {
      title: 'Cancelar inscrição',
      ask: 'Deseja deixar de receber os e-mails de {project} em {address}?',
      button: 'Cancelar inscrição',
    },
    unsubscribed: {
      title: 'Inscrição cancelada',
      text: '{address} já não recebe estes e-mails de {project}.',
      offer: 'Foi um engano?',
    },
    subscribe: {
      title: 'Inscrever-se',
      ask: 'Deseja receber os e-mails de {project} em {address}?',
      button: 'Inscrever-se',
    },
    subscribed: { title: 'Está inscrito', text: '{address} recebe os e-mails de {project}.' },
    manage: {
      title: 'Preferências de e-mail',
      subscribed: '{address} está inscrito nos e-mails de {project}.',
      unsubscribed: '{address} não está inscrito nos e-mails de {project}.',
    },
    unknown: {
      title: 'Esta ligação não funciona',
      text: 'Está incompleta ou já não é válida. Abra novamente a ligação num dos seus e-mails.',
      leave: 'Pode cancelar a inscrição mesmo assim:',
    },
    left: { title: 'Feito', text: 'O endereço a que esta ligação pertence não receberá mais estes e-mails.' },
    tooMany: { title: 'Demasiados pedidos', text: 'Aguarde um minuto e tente novamente.' },
    failed: { title: 'Algo correu mal', text: 'Nada foi alterado. Tente novamente dentro de alguns minutos.' },
    footer: 'Vê esta página porque {project} lhe envia e-mails.',
    preferences: 'Preferências de e-mail',
  },
};

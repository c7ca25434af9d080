/** Mail that the service sends of its own. */
export const letterKinds = [
  'verify-address',
  'reset-password',
  'address-taken',
  'password-changed',
  'invitation',
  'domain-verified',
  'domain-lost',
  'usage-warning',
  'usage-reached',
  'project-disabled',
  'payment-failed',
  'webhook-disabled',
  'campaign-stopped',
  'rollout-stopped',
  'approval-requested',
] as const;
export type LetterKind = (typeof letterKinds)[number];

/** The sentences of a mail; `{name}` is filled in. */
export interface MailText {
  subject: string;
  line: string;
  button: string;
  note: string;
}

const en: Record<LetterKind, MailText> = {
  'verify-address': {
    subject: 'Confirm your address',
    line: 'Somebody signed up for {service} with this address. If it was you, confirm that the address is yours.',
    button: 'Confirm address',
    note: 'The link works once and for one hour. If it was not you, you need not do anything.',
  },
  'reset-password': {
    subject: 'Set a new password',
    line: 'You can choose a new password for {service}. All devices are then signed out.',
    button: 'Set a new password',
    note: 'The link works once and for one hour. If you did not ask for it, your password stays as it is.',
  },
  'address-taken': {
    subject: 'You already have an account',
    line: 'Somebody tried to sign up for {service} with this address, which already has an account. If it was you, sign in.',
    button: 'Sign in',
    note: 'If you forgot your password, ask for a new one on the sign-in page. If it was not you, nothing has changed.',
  },
  'password-changed': {
    subject: 'Your password was changed',
    line: 'The password of your account on {service} was changed, and all other devices were signed out.',
    button: 'Reset password',
    note: 'If you changed it, you need not do anything. If not, set a new password now.',
  },
  invitation: {
    subject: 'Join {project} on {service}',
    line: '{inviter} invited you to the project {project}.',
    button: 'Accept invitation',
    note: 'The link works once and for seven days. If you do not know {inviter}, ignore this email.',
  },
  'domain-verified': {
    subject: '{domain} is ready to send',
    line: 'The DNS records of {domain} are right: the project {project} may send from it now.',
    button: 'Show the domain',
    note: 'Keep the records where they are; they are checked from time to time.',
  },
  'domain-lost': {
    subject: '{domain} can no longer send',
    line: 'The DKIM record of {domain} is gone or changed, so the project {project} may not send from it any more.',
    button: 'Show the records',
    note: 'Set the record again; sending goes on as soon as it is found.',
  },
  'usage-warning': {
    subject: '{project} has used 80 % of its limit',
    line: 'The project {project} has used {used} of {limit} messages of the monthly limit for {category}.',
    button: 'Show the limits',
    note: 'When the limit is reached, further messages of this kind are refused until the month ends.',
  },
  'usage-reached': {
    subject: '{project} has reached its limit',
    line: 'The project {project} has used all {limit} messages of the monthly limit for {category}. Further ones are refused.',
    button: 'Change the limits',
    note: 'Sending goes on when the limit is raised or the month ends.',
  },
  'project-disabled': {
    subject: '{project} was paused',
    line: 'Too many messages of the project {project} bounced or were reported as spam. To protect its reputation, it sends nothing until an operator enables it again.',
    button: 'Show the figures',
    note: 'Remove addresses that bounce and people who did not ask for your mail, then write to the operator of this service.',
  },
  'payment-failed': {
    subject: 'The payment for {project} failed',
    line: 'The last payment for the project {project} did not go through, so it sends nothing at the moment.',
    button: 'Settle the payment',
    note: 'The project is enabled again as soon as the payment arrives.',
  },
  'webhook-disabled': {
    subject: 'Webhooks to {host} are switched off',
    line: 'The webhook endpoint {host} of the project {project} was disabled: {reason}.',
    button: 'Show the endpoint',
    note: 'Enable it again when it works: delivery goes on with the first event that is missing.',
  },
  'campaign-stopped': {
    subject: 'The campaign {campaign} was paused',
    line: '{reason}. Nothing more of the campaign {campaign} of the project {project} is sent until somebody resumes it.',
    button: 'Show the campaign',
    note: 'Fix the content and continue, resume it as it is, or stop it. What was sent stays sent.',
  },
  'rollout-stopped': {
    subject: 'Version {version} of {workflow} was taken back',
    line: 'Version {version} of the workflow {workflow} in the project {project} was rolled out to a share of new contacts: {reason}. New contacts get the previous version again.',
    button: 'Show the workflow',
    note: 'Contacts who entered version {version} stay in it. It remains in the list of versions: correct it and publish it again.',
  },
  'approval-requested': {
    subject: "'{campaign}' waits for your approval",
    line: 'A campaign of the project {project} to {recipients} contacts is ready and waits for an admin: {campaign}.',
    button: 'Review the campaign',
    note: 'It is sent when you or another admin approve it. The request ends when the review expires.',
  },
};

const de: Record<LetterKind, MailText> = {
  'verify-address': {
    subject: 'Bestätigen Sie Ihre Adresse',
    line: 'Jemand hat sich mit dieser Adresse bei {service} angemeldet. Wenn Sie es waren, bestätigen Sie, dass die Adresse Ihnen gehört.',
    button: 'Adresse bestätigen',
    note: 'Der Link gilt einmal und eine Stunde lang. Wenn Sie es nicht waren, brauchen Sie nichts zu tun.',
  },
  'reset-password': {
    subject: 'Neues Passwort wählen',
    line: 'Sie können ein neues Passwort für {service} wählen. Danach sind alle Geräte abgemeldet.',
    button: 'Neues Passwort wählen',
    note: 'Der Link gilt einmal und eine Stunde lang. Wenn Sie nicht darum gebeten haben, bleibt Ihr Passwort, wie es ist.',
  },
  'address-taken': {
    subject: 'Sie haben bereits ein Konto',
    line: 'Jemand wollte sich mit dieser Adresse bei {service} anmelden; sie hat schon ein Konto. Wenn Sie es waren, melden Sie sich an.',
    button: 'Anmelden',
    note: 'Wenn Sie Ihr Passwort vergessen haben, wählen Sie auf der Anmeldeseite ein neues. Wenn Sie es nicht waren, hat sich nichts geändert.',
  },
  'password-changed': {
    subject: 'Ihr Passwort wurde geändert',
    line: 'Das Passwort Ihres Kontos bei {service} wurde geändert; alle anderen Geräte sind abgemeldet.',
    button: 'Passwort zurücksetzen',
    note: 'Wenn Sie es geändert haben, brauchen Sie nichts zu tun. Wenn nicht, wählen Sie jetzt ein neues.',
  },
  invitation: {
    subject: 'Einladung zu {project} bei {service}',
    line: '{inviter} hat Sie zum Projekt {project} eingeladen.',
    button: 'Einladung annehmen',
    note: 'Der Link gilt einmal und sieben Tage lang. Wenn Sie {inviter} nicht kennen, ignorieren Sie diese E-Mail.',
  },
  'domain-verified': {
    subject: '{domain} kann senden',
    line: 'Die DNS-Einträge von {domain} stimmen: Das Projekt {project} darf jetzt von dort senden.',
    button: 'Domain anzeigen',
    note: 'Lassen Sie die Einträge stehen; sie werden von Zeit zu Zeit geprüft.',
  },
  'domain-lost': {
    subject: '{domain} kann nicht mehr senden',
    line: 'Der DKIM-Eintrag von {domain} fehlt oder wurde geändert; das Projekt {project} darf von dort nicht mehr senden.',
    button: 'Einträge anzeigen',
    note: 'Setzen Sie den Eintrag wieder; sobald er gefunden wird, geht das Senden weiter.',
  },
  'usage-warning': {
    subject: '{project} hat 80 % seines Limits verbraucht',
    line: 'Das Projekt {project} hat {used} von {limit} Nachrichten des Monatslimits für {category} verbraucht.',
    button: 'Limits anzeigen',
    note: 'Ist das Limit erreicht, werden weitere Nachrichten dieser Art bis zum Monatsende abgelehnt.',
  },
  'usage-reached': {
    subject: '{project} hat sein Limit erreicht',
    line: 'Das Projekt {project} hat alle {limit} Nachrichten des Monatslimits für {category} verbraucht. Weitere werden abgelehnt.',
    button: 'Limits ändern',
    note: 'Das Senden geht weiter, wenn das Limit erhöht wird oder der Monat endet.',
  },
  'project-disabled': {
    subject: '{project} wurde angehalten',
    line: 'Zu viele Nachrichten des Projekts {project} kamen zurück oder wurden als Spam gemeldet. Um seinen Ruf zu schützen, sendet es nichts, bis ein Betreiber es wieder freigibt.',
    button: 'Zahlen anzeigen',
    note: 'Entfernen Sie Adressen, die nicht erreichbar sind, und Menschen, die Ihre Post nicht bestellt haben; schreiben Sie dann dem Betreiber.',
  },
  'payment-failed': {
    subject: 'Die Zahlung für {project} ist fehlgeschlagen',
    line: 'Die letzte Zahlung für das Projekt {project} kam nicht zustande; es sendet derzeit nichts.',
    button: 'Zahlung klären',
    note: 'Das Projekt wird wieder freigegeben, sobald die Zahlung eingeht.',
  },
  'webhook-disabled': {
    subject: 'Webhooks an {host} sind abgeschaltet',
    line: 'Der Webhook-Endpunkt {host} des Projekts {project} wurde abgeschaltet: {reason}.',
    button: 'Endpunkt anzeigen',
    note: 'Schalten Sie ihn wieder ein, sobald er funktioniert: Die Zustellung geht beim ersten fehlenden Ereignis weiter.',
  },
  'campaign-stopped': {
    subject: 'Die Kampagne {campaign} wurde angehalten',
    line: '{reason}. Von der Kampagne {campaign} des Projekts {project} wird nichts weiter versendet, bis jemand sie fortsetzt.',
    button: 'Kampagne anzeigen',
    note: 'Korrigieren Sie den Inhalt und setzen Sie fort, setzen Sie unverändert fort oder beenden Sie die Kampagne. Was versendet wurde, bleibt versendet.',
  },
  'rollout-stopped': {
    subject: 'Version {version} von {workflow} wurde zurückgenommen',
    line: 'Version {version} des Workflows {workflow} im Projekt {project} galt für einen Teil der neuen Kontakte: {reason}. Neue Kontakte erhalten wieder die vorige Version.',
    button: 'Workflow anzeigen',
    note: 'Kontakte, die mit Version {version} begonnen haben, bleiben darin. Sie bleibt in der Liste der Versionen: Korrigieren Sie sie und veröffentlichen Sie sie erneut.',
  },
  'approval-requested': {
    subject: "'{campaign}' wartet auf Ihre Freigabe",
    line: 'Eine Kampagne des Projekts {project} an {recipients} Kontakte ist fertig und wartet auf einen Admin: {campaign}.',
    button: 'Kampagne prüfen',
    note: 'Sie wird gesendet, sobald Sie oder ein anderer Admin sie freigeben. Die Anfrage endet mit der Prüfung, auf der sie beruht.',
  },
};

const fr: Record<LetterKind, MailText> = {
  'verify-address': {
    subject: 'Confirmez votre adresse',
    line: 'Quelqu’un s’est inscrit à {service} avec cette adresse. Si c’était vous, confirmez qu’elle vous appartient.',
    button: 'Confirmer l’adresse',
    note: 'Le lien fonctionne une seule fois, pendant une heure. Si ce n’était pas vous, vous n’avez rien à faire.',
  },
  'reset-password': {
    subject: 'Choisissez un nouveau mot de passe',
    line: 'Vous pouvez choisir un nouveau mot de passe pour {service}. Tous les appareils seront ensuite déconnectés.',
    button: 'Choisir un mot de passe',
    note: 'Le lien fonctionne une seule fois, pendant une heure. Si vous n’avez rien demandé, votre mot de passe ne change pas.',
  },
  'address-taken': {
    subject: 'Vous avez déjà un compte',
    line: 'Quelqu’un a voulu s’inscrire à {service} avec cette adresse, qui a déjà un compte. Si c’était vous, connectez-vous.',
    button: 'Se connecter',
    note: 'Mot de passe oublié ? Demandez-en un nouveau sur la page de connexion. Si ce n’était pas vous, rien n’a changé.',
  },
  'password-changed': {
    subject: 'Votre mot de passe a été modifié',
    line: 'Le mot de passe de votre compte {service} a été modifié et tous les autres appareils ont été déconnectés.',
    button: 'Réinitialiser le mot de passe',
    note: 'Si c’était vous, vous n’avez rien à faire. Sinon, choisissez un nouveau mot de passe maintenant.',
  },
  invitation: {
    subject: 'Rejoignez {project} sur {service}',
    line: '{inviter} vous a invité au projet {project}.',
    button: 'Accepter l’invitation',
    note: 'Le lien fonctionne une seule fois, pendant sept jours. Si vous ne connaissez pas {inviter}, ignorez ce message.',
  },
  'domain-verified': {
    subject: '{domain} peut envoyer',
    line: 'Les enregistrements DNS de {domain} sont corrects : le projet {project} peut maintenant envoyer depuis ce domaine.',
    button: 'Voir le domaine',
    note: 'Laissez les enregistrements en place ; ils sont vérifiés de temps en temps.',
  },
  'domain-lost': {
    subject: '{domain} ne peut plus envoyer',
    line: 'L’enregistrement DKIM de {domain} manque ou a changé ; le projet {project} ne peut plus envoyer depuis ce domaine.',
    button: 'Voir les enregistrements',
    note: 'Rétablissez l’enregistrement ; l’envoi reprend dès qu’il est retrouvé.',
  },
  'usage-warning': {
    subject: '{project} a utilisé 80 % de sa limite',
    line: 'Le projet {project} a utilisé {used} messages sur {limit} de la limite mensuelle pour {category}.',
    button: 'Voir les limites',
    note: 'Une fois la limite atteinte, les messages de ce type sont refusés jusqu’à la fin du mois.',
  },
  'usage-reached': {
    subject: '{project} a atteint sa limite',
    line: 'Le projet {project} a utilisé les {limit} messages de la limite mensuelle pour {category}. Les suivants sont refusés.',
    button: 'Modifier les limites',
    note: 'L’envoi reprend quand la limite est relevée ou que le mois se termine.',
  },
  'project-disabled': {
    subject: '{project} a été suspendu',
    line: 'Trop de messages du projet {project} ont été rejetés ou signalés comme indésirables. Pour protéger sa réputation, il n’envoie plus rien jusqu’à ce qu’un opérateur le réactive.',
    button: 'Voir les chiffres',
    note: 'Retirez les adresses rejetées et les personnes qui n’ont pas demandé vos messages, puis écrivez à l’opérateur.',
  },
  'payment-failed': {
    subject: 'Le paiement pour {project} a échoué',
    line: 'Le dernier paiement pour le projet {project} n’a pas abouti ; il n’envoie rien pour le moment.',
    button: 'Régler le paiement',
    note: 'Le projet est réactivé dès que le paiement arrive.',
  },
  'webhook-disabled': {
    subject: 'Les webhooks vers {host} sont désactivés',
    line: 'Le point de terminaison {host} du projet {project} a été désactivé : {reason}.',
    button: 'Afficher le point de terminaison',
    note: 'Réactivez-le dès qu’il fonctionne : la livraison reprend au premier événement manquant.',
  },
  'campaign-stopped': {
    subject: 'La campagne {campaign} a été mise en pause',
    line: '{reason}. Plus rien de la campagne {campaign} du projet {project} n’est envoyé tant que personne ne la reprend.',
    button: 'Afficher la campagne',
    note: 'Corrigez le contenu et continuez, reprenez l’envoi tel quel ou arrêtez-le. Ce qui a été envoyé le reste.',
  },
  'rollout-stopped': {
    subject: 'La version {version} de {workflow} a été retirée',
    line: 'La version {version} du workflow {workflow} du projet {project} était donnée à une partie des nouveaux contacts : {reason}. Les nouveaux contacts reçoivent de nouveau la version précédente.',
    button: 'Afficher le workflow',
    note: 'Les contacts entrés dans la version {version} y restent. Elle demeure dans la liste des versions : corrigez-la et publiez-la de nouveau.',
  },
  'approval-requested': {
    subject: '« {campaign} » attend votre approbation',
    line: 'Une campagne du projet {project} vers {recipients} contacts est prête et attend un administrateur : {campaign}.',
    button: 'Vérifier la campagne',
    note: 'Elle part dès que vous ou un autre administrateur l’approuvez. La demande prend fin quand la vérification expire.',
  },
};

const es: Record<LetterKind, MailText> = {
  'verify-address': {
    subject: 'Confirme su dirección',
    line: 'Alguien se registró en {service} con esta dirección. Si fue usted, confirme que le pertenece.',
    button: 'Confirmar dirección',
    note: 'El enlace funciona una vez y durante una hora. Si no fue usted, no tiene que hacer nada.',
  },
  'reset-password': {
    subject: 'Elija una contraseña nueva',
    line: 'Puede elegir una contraseña nueva para {service}. Después se cerrará la sesión en todos los dispositivos.',
    button: 'Elegir contraseña',
    note: 'El enlace funciona una vez y durante una hora. Si no lo pidió, su contraseña no cambia.',
  },
  'address-taken': {
    subject: 'Ya tiene una cuenta',
    line: 'Alguien quiso registrarse en {service} con esta dirección, que ya tiene una cuenta. Si fue usted, inicie sesión.',
    button: 'Iniciar sesión',
    note: 'Si olvidó la contraseña, pida una nueva en la página de inicio de sesión. Si no fue usted, nada ha cambiado.',
  },
  'password-changed': {
    subject: 'Se cambió su contraseña',
    line: 'La contraseña de su cuenta en {service} se cambió y se cerró la sesión en los demás dispositivos.',
    button: 'Restablecer la contraseña',
    note: 'Si fue usted, no tiene que hacer nada. Si no, elija ahora una contraseña nueva.',
  },
  invitation: {
    subject: 'Únase a {project} en {service}',
    line: '{inviter} le ha invitado al proyecto {project}.',
    button: 'Aceptar la invitación',
    note: 'El enlace funciona una vez y durante siete días. Si no conoce a {inviter}, ignore este mensaje.',
  },
  'domain-verified': {
    subject: '{domain} puede enviar',
    line: 'Los registros DNS de {domain} son correctos: el proyecto {project} ya puede enviar desde él.',
    button: 'Ver el dominio',
    note: 'Deje los registros en su sitio; se comprueban de vez en cuando.',
  },
  'domain-lost': {
    subject: '{domain} ya no puede enviar',
    line: 'El registro DKIM de {domain} falta o ha cambiado; el proyecto {project} ya no puede enviar desde él.',
    button: 'Ver los registros',
    note: 'Vuelva a poner el registro; el envío sigue en cuanto se encuentre.',
  },
  'usage-warning': {
    subject: '{project} ha usado el 80 % de su límite',
    line: 'El proyecto {project} ha usado {used} de {limit} mensajes del límite mensual de {category}.',
    button: 'Ver los límites',
    note: 'Cuando se alcance el límite, los mensajes de este tipo se rechazarán hasta que acabe el mes.',
  },
  'usage-reached': {
    subject: '{project} ha alcanzado su límite',
    line: 'El proyecto {project} ha usado los {limit} mensajes del límite mensual de {category}. Los siguientes se rechazan.',
    button: 'Cambiar los límites',
    note: 'El envío sigue cuando se suba el límite o acabe el mes.',
  },
  'project-disabled': {
    subject: '{project} está en pausa',
    line: 'Demasiados mensajes del proyecto {project} rebotaron o se marcaron como correo no deseado. Para proteger su reputación, no envía nada hasta que un operador lo active de nuevo.',
    button: 'Ver las cifras',
    note: 'Quite las direcciones que rebotan y a quienes no pidieron su correo, y escriba después al operador.',
  },
  'payment-failed': {
    subject: 'El pago de {project} ha fallado',
    line: 'El último pago del proyecto {project} no se completó; por ahora no envía nada.',
    button: 'Resolver el pago',
    note: 'El proyecto se activa de nuevo en cuanto llegue el pago.',
  },
  'webhook-disabled': {
    subject: 'Los webhooks a {host} están desactivados',
    line: 'El punto de conexión {host} del proyecto {project} se desactivó: {reason}.',
    button: 'Mostrar el punto de conexión',
    note: 'Actívelo de nuevo cuando funcione: la entrega continúa con el primer evento que falta.',
  },
  'campaign-stopped': {
    subject: 'La campaña {campaign} se ha pausado',
    line: '{reason}. No se envía nada más de la campaña {campaign} del proyecto {project} hasta que alguien la reanude.',
    button: 'Mostrar la campaña',
    note: 'Corrija el contenido y continúe, reanúdela tal como está o deténgala. Lo que se envió, enviado queda.',
  },
  'rollout-stopped': {
    subject: 'Se ha retirado la versión {version} de {workflow}',
    line: 'La versión {version} del flujo {workflow} del proyecto {project} era para una parte de los contactos nuevos: {reason}. Los contactos nuevos vuelven a recibir la versión anterior.',
    button: 'Mostrar el flujo',
    note: 'Los contactos que entraron en la versión {version} siguen en ella. Permanece en la lista de versiones: corríjala y publíquela de nuevo.',
  },
  'approval-requested': {
    subject: '«{campaign}» espera su aprobación',
    line: 'Una campaña del proyecto {project} para {recipients} contactos está lista y espera a un administrador: {campaign}.',
    button: 'Revisar la campaña',
    note: 'Se envía cuando usted u otro administrador la aprueban. La solicitud termina cuando la revisión caduca.',
  },
};

/** Every text in every language in which the service writes to those who run projects. */
export const mailTexts = { en, de, fr, es } as const;

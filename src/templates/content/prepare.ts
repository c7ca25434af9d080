import {
  buildVariables,
  cutSource,
  deriveText,
  Filled,
  htmlToText,
  layOutParts,
  namesIn,
  type ParsedTemplate,
  prepareTemplate,
  readMarkup,
  renderFully,
  renderLimits,
  renderMarkedText,
  renderSubject,
  StepLimitError,
  subjectLine,
  substitute,
  type TemplateContact,
  TemplateSyntaxError,
  TemplateTooLargeError,
  type TextTemplate,
  type Variables,
  withSimilarFields,
} from '@fernpost/renderer';
import type { MessageClass } from '../../lib/enums.ts';
import { footerSource } from '../../lib/texts/footer.ts';
import { chooseLanguage, type Language } from '../../lib/texts/pages.ts';
import { countDocumentTags, dressMessage, dressTemplate, type MessageHeader, outgoingHeaders } from './document.ts';
import { type LinkSettings, linksOwnPages, recipientLinks } from './links.ts';

/** The content of a message, the same for all its recipients. Equal sources share everything that is prepared. */
export interface ContentSource {
  subject: string;
  /** HTML with Liquid. */
  body: string;
  /** The text part with Liquid; derived from the HTML when absent. */
  text?: string | null;
  messageClass: MessageClass;
  projectName: string;
  /** The language of recipients who name none. */
  language: string;
  escapeContactData: boolean;
  /** A variable that no source has is the contact's field of a similar name: see `withSimilarFields`. */
  findsSimilarFields?: boolean;
  /** A test message: no footer, and none of the default headers. */
  isTest?: boolean;
}

/** The facts that differ from message to message. */
export interface MessageRecipient {
  /** The message's row; null when it has none. */
  emailId: string | null;
  contact: TemplateContact;
  /** The `data` of the request, wrappers and all; inserted as it is. */
  requestData?: Readonly<Record<string, unknown>> | null | undefined;
  /** The context of an automation's run. */
  event?: Readonly<Record<string, unknown>> | null | undefined;
  isCampaign: boolean;
  /** The contact that the recipient's links act on, where that is not `contact`: tests show a contact's message and change nobody. */
  linkContactId?: string;
  customHeaders?: Readonly<Record<string, string>> | null | undefined;
  /** False where the provider adds List-Unsubscribe headers of its own (`POSTMARK_UNSUBSCRIBES=postmark`). */
  ownUnsubscribeHeaders?: boolean;
  /** Gets the variables that the message prints and the recipient lacks; nothing is noted when absent. */
  missing?: Set<string> | undefined;
}

/** A message's content as the provider gets it. */
export interface RenderedContent {
  subject: string;
  html: string;
  /** Null when the HTML says nothing in words. */
  text: string | null;
  headers: MessageHeader[];
  /** Why a template was only filled in plainly, to be logged once for the template; null when all went well. */
  problem: string | null;
}

/** A message's content with its texts in parts: see `Filled`. */
interface FilledContent extends Omit<RenderedContent, 'html' | 'text'> {
  html: Filled;
  text: Filled | null;
}

/** Content with everything done that does not depend on the recipient. */
export interface PreparedContent {
  /**
   * A template that does not parse is filled in plainly.
   * @throws StepLimitError for a template that costs more steps than one message may: its mail fails
   */
  fillFor(recipient: MessageRecipient): FilledContent;
  /** `fillFor` with its texts put together. */
  renderFor(recipient: MessageRecipient): RenderedContent;
}

/** Prepares content for any number of recipients. Never throws: content that cannot be sent throws when it is filled in. */
export function prepareContent(source: ContentSource, settings: LinkSettings): PreparedContent {
  const { messageClass, isTest = false } = source;
  const withFooter = messageClass === 'MARKETING' && !isTest;
  const subject = prepareTemplate(source.subject, { mode: 'text' });
  const ownText = source.text ? prepareTemplate(source.text, { mode: 'text' }) : null;
  const body = prepareBody(source.body, source.escapeContactData, withFooter);
  const footers = withFooter ? footersOf(source.projectName, source.language) : null;

  const { text = null, findsSimilarFields = false } = source;
  const names = findsSimilarFields ? namesIn([source.subject, source.body, text ?? ''].join('\n')) : null;

  let refused = 0;
  let refusal = body.refusal;
  return {
    fillFor,
    renderFor(recipient) {
      const { html, text, ...content } = fillFor(recipient);
      return { ...content, html: String(html), text: text === null ? null : String(text) };
    },
  };

  // Content that never stayed within its steps is refused at last; see `mostFailures`.
  function fillFor(recipient: MessageRecipient): FilledContent {
    if (refusal !== null) throw new StepLimitError(refusal);
    try {
      const filled = fill(recipient);
      refused = Number.NEGATIVE_INFINITY;
      return filled;
    } catch (error) {
      if (error instanceof StepLimitError && ++refused >= mostFailures) refusal = error.message;
      throw error;
    }
  }

  function fill(recipient: MessageRecipient): FilledContent {
    const { contact, emailId, requestData, event, isCampaign, customHeaders, ownUnsubscribeHeaders = true } = recipient;
    const { linkContactId = contact.id } = recipient;
    const links = recipientLinks(settings, linkContactId, emailId);
    const given = buildVariables({ contact, requestData, event, urls: links, missing: recipient.missing });
    const variables = names === null ? given : withSimilarFields(given, names, contact.data);
    const footer = footers ? footers(variables.reserved.locale) : null;
    const { html, text: derived, problem } = renderBodyFor(body, variables, footer);
    const text = ownText ? filledText(ownText, variables, footer) : derived;
    const offersOneClick =
      ownUnsubscribeHeaders && !isTest && (messageClass === 'MARKETING' || linksOwnPages(String(html), linkContactId));
    return {
      subject: renderSubject(subject, variables),
      html,
      text: text.length === 0 ? null : text,
      headers: outgoingHeaders({
        messageClass: isTest ? 'TRANSACTIONAL' : messageClass,
        isCampaign: isCampaign && !isTest,
        oneClickUrl: offersOneClick ? links.oneClickUrl : null,
        custom: customHeaders ?? null,
      }),
      problem: subject.problem?.message ?? problem,
    };
  }
}

/**
 * Content as its author wrote it, placeholders included: for a test message without a contact to fill them in.
 * @throws StepLimitError
 */
export function contentAsWritten(content: {
  subject: string;
  body: string;
}): Pick<RenderedContent, 'subject' | 'html' | 'text'> {
  const html = dressMessage(content.body, '');
  return { subject: subjectLine(content.subject), html, text: textOfMessage(html) || null };
}

interface PreparedBody {
  html: ParsedTemplate;
  text: TextTemplate | null;
  /** The template without the document around it, for values that bring their own. */
  bare: ParsedTemplate;
  /** How many tags of a document the template itself holds. */
  documentTags: number;
  /** The document, or the footer's place in it, can only be found in the rendered message. */
  isLate: boolean;
  /** How many renderings failed so far, until one succeeds: from then on a failure is the fault of a contact's data. */
  failures: number;
  /** Why no message can be made of the template, or null. */
  refusal: string | null;
}

// After so many, a template is taken for one that cannot be rendered at all; each failure costs all the steps there are.
const mostFailures = 20;

function prepareBody(body: string, escapeValues: boolean, withFooter: boolean): PreparedBody {
  const options = { mode: 'html', escapeValues } as const;
  try {
    const pieces = cutSource(body);
    const dressed = dressTemplate(body, pieces, readMarkup(body, pieces), withFooter);
    const html = prepareTemplate(dressed.source, options);
    if (html.problem === null)
      return {
        html,
        text: deriveText(html),
        bare: dressed.bare === dressed.source ? html : prepareTemplate(dressed.bare, options),
        documentTags: countDocumentTags(dressed.source),
        isLate: dressed.footerLate,
        failures: 0,
        refusal: null,
      };
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
  }
  const html = prepareTemplate(body, options);
  const refusal = html.problem instanceof TemplateTooLargeError ? html.problem.reason : null;
  return { html, text: null, bare: html, documentTags: 0, isLate: true, failures: 0, refusal };
}

interface Footer {
  html: ParsedTemplate;
  text: TextTemplate | null;
}

// The footers of one content by locale, each prepared when the first contact with that locale comes.
function footersOf(projectName: string, projectLanguage: string): (locale: unknown) => Footer {
  const byLanguage = new Map<Language, Footer>();
  const byLocale = new Map<unknown, Footer>();
  return (locale) => {
    const known = byLocale.get(locale);
    if (known) return known;
    const language = chooseLanguage(typeof locale === 'string' ? locale : null, projectLanguage);
    const footer = byLanguage.get(language) ?? prepareFooter(language, projectName);
    byLanguage.set(language, footer);
    // Locales are what contacts say, and need not be languages.
    if (byLocale.size < mostLocales) byLocale.set(locale, footer);
    return footer;
  };
}

const mostLocales = 500;

function prepareFooter(language: Language, projectName: string): Footer {
  const html = prepareTemplate(footerSource(language, projectName), { mode: 'html' });
  return { html, text: deriveText(html) };
}

interface RenderedBody {
  html: Filled;
  text: Filled;
  problem: string | null;
}

function renderBodyFor(body: PreparedBody, variables: Variables, footer: Footer | null): RenderedBody {
  const footerHtml = footer ? renderFully(footer.html, variables, Filled.empty).text : Filled.empty;
  if (body.failures >= mostFailures) return fillIn(body, variables, footerHtml, 'The template goes over its limits');
  const rendered = renderFully(body.isLate ? body.bare : body.html, variables, footerHtml);
  if (rendered.problem !== null) {
    if (body.bare.problem === null) body.failures += 1;
    return fillIn(body, variables, footerHtml, rendered.problem);
  }
  body.failures = Number.NEGATIVE_INFINITY;
  if (body.isLate) return finish(rendered.text, footerHtml, null);
  // A value inserted as it is may be a document of its own; then it must not be wrapped in ours.
  if (rendered.insertedMarkup && countDocumentTags(String(rendered.text)) !== body.documentTags)
    return finish(renderFully(body.bare, variables, Filled.empty).text, footerHtml, null);
  const text = rendered.insertedMarkup ? null : derivedText(body, variables, footer);
  return { html: rendered.text, text: text ?? Filled.of(textOfMessage(String(rendered.text))), problem: null };
}

function fillIn(body: PreparedBody, variables: Variables, footerHtml: Filled, problem: string): RenderedBody {
  return finish(Filled.of(substitute(body.bare.source, variables, body.bare)), footerHtml, problem);
}

function finish(message: Filled, footerHtml: Filled, problem: string | null): RenderedBody {
  const html = dressMessage(String(message), String(footerHtml));
  return { html: Filled.of(html), text: Filled.of(textOfMessage(html)), problem };
}

/** The text part that the author wrote, with the footer where one belongs to the message. */
function filledText(template: ParsedTemplate, variables: Variables, footer: Footer | null): Filled {
  const { text } = renderFully(template, variables, Filled.empty);
  if (footer === null) return text;
  const footerHtml = String(renderFully(footer.html, variables, Filled.empty).text);
  return Filled.of(`${String(text)}\n\n${htmlToText(footerHtml)}`);
}

const stepsOfTag = 4;
const charactersPerStep = 128;

// Converting a message costs far more than filling it in, so it counts as steps of its own.
function textOfMessage(html: string): string {
  let steps = html.length / charactersPerStep;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) steps += stepsOfTag;
  if (steps > renderLimits.steps)
    throw new StepLimitError(
      `The text part of the message takes more than ${renderLimits.steps.toLocaleString('en-US')} steps`,
    );
  return htmlToText(html);
}

function derivedText(body: PreparedBody, variables: Variables, footer: Footer | null): Filled | null {
  if (body.text === null) return null;
  const footerText = footer ? footer.text && renderMarkedText(footer.text, variables, Filled.empty) : Filled.empty;
  const marked = footerText === null ? null : renderMarkedText(body.text, variables, footerText);
  return marked === null ? null : layOutParts(marked);
}

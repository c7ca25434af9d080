/** Mail that the service sends of its own (contract page 3, 1.5). */
export const systemMailKinds = [
  'verify-address',
  'reset-password',
  'address-taken',
  'domain-verified',
  'domain-lost',
  'usage-warning',
  'usage-reached',
  'project-disabled',
  'payment-failed',
  'webhook-disabled',
] as const;
export type SystemMailKind = (typeof systemMailKinds)[number];

/** One mail of the service: its kind says the text, `values` fill it, `link` is where its button leads. */
export interface SystemMailRequest {
  kind: SystemMailKind;
  to: string;
  /** A language, or the `Accept-Language` of a request; English where it is not offered. */
  language: string | null;
  link: string;
  /** `project`, `domain`, `category` … : the names that stand in the texts of the kind. */
  values?: Readonly<Record<string, string>>;
  /** Two mails with the same key are one, for as long as the first is remembered (60 days). */
  dedupeKey?: string;
}

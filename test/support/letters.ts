import type { Config } from '../../src/lib/config/config.ts';
import { unseal } from '../../src/lib/seal.ts';
import type { Letter } from '../../src/lib/texts/letter.ts';
import type { Database } from '../../src/store/sql.ts';

/** A mail of the service that was queued, as its reader will see it. */
export interface QueuedLetter extends Letter {
  kind: string;
  /** Where the first link of the text leads. */
  link: string;
}

/** The mails of the service that wait for this address, oldest first. */
export async function lettersTo(sql: Database, config: Config, email: string): Promise<QueuedLetter[]> {
  const rows = await sql.rows<{ kind: string; sealed: string }>(
    `select kind, content_sealed as sealed from system_mails where to_address = $1 and content_sealed is not null
     order by created_at, id`,
    [email],
  );
  return rows.map(({ kind, sealed }) => {
    const letter = JSON.parse(unseal(sealed, config.APP_ENCRYPTION_KEY)) as Letter;
    return { ...letter, kind, link: /https?:\S+/.exec(letter.text)?.[0] ?? '' };
  });
}

/** The token in the link of a mail. */
export function tokenOf({ link }: QueuedLetter): string {
  return new URL(link).searchParams.get('token') ?? '';
}

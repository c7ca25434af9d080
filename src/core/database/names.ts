import { UnderscoreNamingStrategy } from '@mikro-orm/core';

const suffixes = { primary: 'pkey', unique: 'key', foreign: 'fkey', check: 'check' } as const;

/** Names as Postgres gives them itself: `users_email_key`, `memberships_user_id_fkey`. A column that names a row is the property's name. */
export class PostgresNames extends UnderscoreNamingStrategy {
  override joinKeyColumnName(propertyName: string): string {
    return this.propertyToColumnName(propertyName);
  }

  override indexName(
    table: string,
    columns: string[],
    type: Parameters<UnderscoreNamingStrategy['indexName']>[2],
  ): string {
    const suffix = type in suffixes ? suffixes[type as keyof typeof suffixes] : type;
    return type === 'primary' ? `${table}_${suffix}` : `${[table, ...columns].join('_')}_${suffix}`;
  }
}

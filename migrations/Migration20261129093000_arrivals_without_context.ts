import { Migration } from '@mikro-orm/migrations';

/** Pending enrollments have the data of their event, which nothing ever wrote beside it. */
export class Migration20261129093000_arrivals_without_context extends Migration {
  override up(): void {
    this.addSql('alter table automation_arrivals drop column context');
  }
}

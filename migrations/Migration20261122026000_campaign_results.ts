import { Migration } from '@mikro-orm/migrations';

/** What became of a send hour by hour, and which of its links were clicked. Filled from the ledger and the events that there are. */
export class Migration20261122026000_campaign_results extends Migration {
  override up(): void {
    this.addSql(`
      create table campaign_hours (
        campaign_id uuid not null references campaigns (id) on delete cascade,
        send_seq integer not null,
        hour timestamptz(3) not null,
        sent integer not null default 0,
        delivered integer not null default 0,
        opened integer not null default 0,
        clicked integer not null default 0,
        bounced integer not null default 0,
        primary key (campaign_id, send_seq, hour)
      )`);
    this.addSql(`
      create table campaign_links (
        campaign_id uuid not null references campaigns (id) on delete cascade,
        send_seq integer not null,
        link text not null,
        clicks integer not null,
        recipients integer not null,
        primary key (campaign_id, send_seq, link)
      )`);
    this.addSql(`
      insert into campaign_hours (campaign_id, send_seq, hour, sent, delivered, opened, clicked, bounced)
      select e.campaign_id, e.send_seq, date_bin('1 hour', what.at, timestamptz 'epoch'), count(*) filter (where what.name = 'sent'),
        count(*) filter (where what.name = 'delivered'), count(*) filter (where what.name = 'opened'),
        count(*) filter (where what.name = 'clicked'), count(*) filter (where what.name = 'bounced')
      from campaign_sends s
      join emails e on e.campaign_id = s.campaign_id and e.send_seq = s.send_seq
      cross join lateral (values ('sent', e.sent_at), ('delivered', e.delivered_at), ('opened', e.opened_at),
        ('clicked', e.clicked_at), ('bounced', e.bounced_at)) what (name, at)
      where what.at is not null
      group by 1, 2, 3`);
    this.addSql(`
      insert into campaign_links (campaign_id, send_seq, link, clicks, recipients)
      select campaign_id, send_seq, link, clicks, recipients from (
        select e.campaign_id, e.send_seq, v.data ->> 'link' as link, count(*)::int as clicks,
          count(distinct v.email_id)::int as recipients,
          row_number() over (partition by e.campaign_id, e.send_seq order by count(*) desc) as place
        from projects p
        join events v on v.project_id = p.id and v.name = 'email.click'
        join emails e on e.id = v.email_id
        join campaign_sends s on s.campaign_id = e.campaign_id and s.send_seq = e.send_seq
        where length(v.data ->> 'link') between 1 and 2000
        group by 1, 2, 3) found
      where place <= 200`);
  }
}

import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { ConditionEditor } from '../../conditions/ConditionEditor.tsx';
import { inOrder, type Tree, treeText } from '../../conditions/tree.ts';
import { SelectField } from '../../ui/Field.tsx';
import { Note } from '../../ui/States.tsx';
import { count, counted } from '../../words/numbers.ts';
import type { MailContent } from '../mail/content.ts';
import type { Campaign, SavedCampaign } from './campaign.ts';

/** Who gets a campaign, as the form has it. */
export interface Audience {
  audienceType: Campaign['audienceType'];
  segmentId: string;
  audienceCondition: Tree | null;
}

/** The audience of a saved campaign; everybody for a new one. */
export function audienceOf(campaign: SavedCampaign | null): Audience {
  return {
    audienceType: campaign?.audienceType ?? 'ALL',
    segmentId: campaign?.segmentId ?? '',
    // What the service has stored has passed its grammar.
    audienceCondition: campaign?.audienceCondition ? inOrder(campaign.audienceCondition as unknown as Tree) : null,
  };
}

/** The audience in words, one filter a line. */
export function audienceText({ audienceType, audienceCondition }: Audience): string {
  if (audienceType === 'ALL') return 'All contacts';
  return audienceType === 'SEGMENT' ? 'A segment' : audienceCondition ? treeText(audienceCondition) : 'No filter yet';
}

/** The audience as the API takes it. */
export function audienceBody({ audienceType, segmentId, audienceCondition }: Audience) {
  if (audienceType === 'SEGMENT') return { audienceType, segmentId: segmentId || null };
  return audienceType === 'FILTERED'
    ? { audienceType, audienceCondition: audienceCondition && { ...audienceCondition } }
    : { audienceType };
}

/** Chooses who gets the campaign, and says how many that are. */
export function AudienceForm({
  audience,
  type,
  size,
  refused,
  onChange,
}: {
  audience: Audience;
  type: MailContent['type'];
  /** How many they were at the last save; null when that is not known any more. */
  size: number | null;
  /** What the service said when it was saved. */
  refused: unknown;
  onChange: (audience: Audience) => void;
}) {
  const project = useProjectId();
  const segments = useQuery({
    queryKey: ['segments', project],
    queryFn: () => answer(api.GET('/segments')),
  });
  const base = type === 'TRANSACTIONAL' ? 'All contacts, including unsubscribed' : 'All subscribed contacts';
  return (
    <div className="stack">
      <div className="filters">
        <SelectField
          label="Send to"
          value={audience.audienceType}
          onChange={(event) => onChange({ ...audience, audienceType: event.target.value as Audience['audienceType'] })}
        >
          <option value="ALL">{base}</option>
          <option value="SEGMENT">Contacts in a segment</option>
          <option value="FILTERED">Contacts matching conditions</option>
        </SelectField>
        {audience.audienceType === 'SEGMENT' ? (
          <SelectField
            label="Segment"
            required
            value={audience.segmentId}
            onChange={(event) => onChange({ ...audience, segmentId: event.target.value })}
          >
            <option value="" disabled>
              Select a segment
            </option>
            {segments.data?.map(({ id, name, memberCount }) => (
              <option key={id} value={id}>
                {name} ({count(memberCount)})
              </option>
            ))}
          </SelectField>
        ) : null}
      </div>
      {audience.audienceType === 'FILTERED' ? (
        <ConditionEditor
          initial={audience.audienceCondition}
          refused={refused}
          onChange={(audienceCondition) => onChange({ ...audience, audienceCondition })}
        />
      ) : null}
      {size === null ? null : (
        <Note {...(size === 0 ? { tone: 'warn' as const } : {})}>
          {size === 0
            ? 'No contacts match this audience, so the campaign can’t be sent.'
            : `${counted(size, 'contact')} right now. The final audience is fixed when sending starts.`}
        </Note>
      )}
    </div>
  );
}

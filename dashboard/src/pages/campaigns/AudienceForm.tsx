import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { ConditionEditor } from '../../conditions/ConditionEditor.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { count } from '../../words/numbers.ts';
import type { MailContent } from '../mail/content.ts';
import type { Audience } from './rules/steps.ts';

/** Chooses who gets the campaign. */
export function AudienceForm({
  audience,
  type,
  refused,
  onChange,
}: {
  audience: Audience;
  type: MailContent['type'];
  /** The problems that the service found when it was saved. */
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
    </div>
  );
}

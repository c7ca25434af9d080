import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { StickyNote } from 'lucide-react';
import { memo } from 'react';
import { count, counted } from '../../../words/numbers.ts';
import { dropOff } from '../graph/figures.ts';
import { stepNames, summary, type WayOut } from '../graph/graph.ts';
import type { Step } from '../graph/shapes.ts';
import type { Issue, People } from '../workflow.ts';
import { StepIcon } from './StepIcon.tsx';

/** A step as the canvas shows it. */
export interface ShownStep {
  step: Pick<Step, 'id' | 'type' | 'name' | 'position' | 'config'> & Partial<Step> & { triggerType?: string };
  people?: People['steps'][number] | undefined;
  issues?: Issue[];
  /** Shown below the summary: what happened to one execution there. */
  trace?: string | undefined;
  tone?: 'good' | 'warn' | 'bad' | 'info' | undefined;
  /** Shown at its head: that it is new, or differs from what is published. */
  mark?: string | undefined;
}

/** A node of the canvas that is a step. */
export type StepNodeType = Node<{ shown: ShownStep; handles: WayOut[]; isEditable: boolean }, 'step'>;

/** How many contacts are at a step. */
function contactsAt({ people }: ShownStep): number {
  return (people?.running ?? 0) + (people?.waiting ?? 0);
}

/** A step in one sentence, for screen readers. */
export function spoken(shown: ShownStep): string {
  const { step, trace = '', mark = '', issues = [] } = shown;
  const here = contactsAt(shown);
  return [
    `${stepNames[step.type]}: ${step.name}`,
    summary(step),
    step.note ? `Note: ${step.note}` : '',
    trace,
    mark,
    here > 0 ? `${counted(here, 'contact')} here` : '',
    shown.people ? dropOff(shown.people) : '',
    issues.length > 0 ? counted(issues.length, 'problem') : '',
  ]
    .filter(Boolean)
    .join('. ');
}

/** A step on the canvas, with a handle for each path out of it. */
export const StepNode = memo(function StepNode({ data, selected }: NodeProps<StepNodeType>) {
  const { shown, handles, isEditable } = data;
  const { step, people, issues = [], trace, tone, mark } = shown;
  const here = contactsAt(shown);
  return (
    <div className="step" data-type={step.type} data-selected={selected} data-tone={tone}>
      {step.type === 'TRIGGER' ? null : <Handle type="target" position={Position.Top} isConnectable={isEditable} />}
      <div className="step-kind">
        <StepIcon type={step.type} />
        <span>{stepNames[step.type]}</span>
        {mark ? <span className="step-mark">{mark}</span> : null}
      </div>
      <div className="step-name" dir="auto">
        {step.name}
      </div>
      <div className="step-summary" dir="auto">
        {summary(step)}
      </div>
      {step.note ? (
        <div className="step-note" dir="auto" title={step.note}>
          <StickyNote aria-hidden />
          <span>{step.note}</span>
        </div>
      ) : null}
      {trace ? <div className="step-trace">{trace}</div> : null}
      {issues.length > 0 ? <div className="step-issue">⚠ {counted(issues.length, 'problem')}</div> : null}
      {here > 0 ? (
        <div className="step-people">
          {count(here)} here{people?.waiting ? `, ${count(people.waiting)} waiting` : ''}
        </div>
      ) : null}
      {people && people.dropped > 0 ? <div className="step-dropped">{dropOff(people)}</div> : null}
      {people?.invalidZones ? (
        <div className="step-dropped">{counted(people.invalidZones, 'invalid time zone')}</div>
      ) : null}
      {handles.length > 1 ? (
        <div className="step-ways" aria-hidden="true">
          {handles.map(({ key, label }) => (
            <span key={key} dir="auto">
              {label}
            </span>
          ))}
        </div>
      ) : null}
      {handles.map(({ key }, n) => (
        <Handle
          key={key}
          id={key}
          type="source"
          position={Position.Bottom}
          isConnectable={isEditable}
          style={{ left: `${((n + 0.5) / handles.length) * 100}%` }}
        />
      ))}
    </div>
  );
});

import type { Logger } from 'pino';
import { workflowId } from '../../../temporal/commands.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { describeFailure } from '../../lib/network.ts';
import { performCommand } from './calls.ts';

interface SegmentWatchDeps {
  /** Finds the projects with tracked segments whose members may have changed. */
  touchedProjects(): Promise<string[]>;
  temporal: TemporalConnection;
  /** Setting TEMPORAL_TASK_QUEUE. */
  queuePrefix: string;
  log: Logger;
}

/**
 * Builds the watch that a worker runs every few seconds: it looks for projects whose segments need computing, starts that and
 * answers how many it started. A project is computed when it is found touched for the second
 * time in a row: a burst of changes is one compute, and a caller who computes by request comes first. A start that is
 * lost is made by the next watch; of several workers' starts Temporal takes one.
 */
export function createSegmentWatch({
  touchedProjects,
  temporal,
  queuePrefix,
  log,
}: SegmentWatchDeps): () => Promise<number> {
  let before = new Set<string>();
  let failing = false;
  return async () => {
    const touched = await touchedProjects();
    const due = touched.filter((projectId) => before.has(projectId));
    before = new Set(touched.filter((projectId) => !before.has(projectId)));
    let started = 0;
    for (const projectId of due) if (await start(projectId)) started += 1;
    return started;
  };

  async function start(projectId: string): Promise<boolean> {
    try {
      const outcome = await performCommand(temporal, queuePrefix, {
        type: 'start',
        workflow: 'segmentCompute',
        id: workflowId.segments(projectId),
        input: { projectId },
        // An execution that has ended does not count.
        restart: 'touched',
        searchAttributes: { ProjectId: projectId, Kind: 'segments' },
        staticSummary: 'Computes the tracked segments of one project after its data changed',
      });
      failing = false;
      return outcome === 'done';
    } catch (error) {
      if (!failing) {
        const reason = describeFailure(error, temporal.settings);
        log.warn({ projectId }, `segments could not be computed, the next check repeats it: ${reason}`);
      }
      failing = true;
      return false;
    }
  }
}

import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longTests, slowTests } from '../long-tests.ts';

const order = [...longTests, ...slowTests];

/**
 * Begins with the files that take longest, so that none of them runs alone at the end. Vitest itself goes by the size of files
 * where no earlier run has left their durations. A process ends when the next file in line is of another project, so all files for
 * which a process has loaded the service come before the rest of the other projects.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => order.findIndex((path) => moduleId.endsWith(path));
    const isOfServices = ({ project }: TestSpecification) => project.name === 'services';
    const sorted = await super.sort(files);
    const slow = sorted.filter((file) => place(file) >= 0).sort((a, b) => place(a) - place(b));
    const others = sorted.filter((file) => place(file) < 0);
    return [...slow, ...others.filter(isOfServices), ...others.filter((file) => !isOfServices(file))];
  }
}

import { Page } from '../../ui/Page.tsx';

/** The numbers that matter, and what needs attention. */
export function Overview() {
  return <Page title="Overview">{null}</Page>;
}

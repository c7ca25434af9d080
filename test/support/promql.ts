import { parser } from '@prometheus-io/lezer-promql';

/** What an expression asks for. */
export interface PromqlFacts {
  /** Each selector with the values of its label matchers. */
  selectors: { metric: string; matchers: { label: string; value: string }[] }[];
  /** Labels of `by (…)` and their like. */
  grouping: string[];
  /** Places that are no PromQL. */
  problems: string[];
}

/** Reads an expression by the parser of Prometheus' own editor. Variables of Grafana count as durations. */
export function readPromql(expression: string): PromqlFacts {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const facts: PromqlFacts = { selectors: [], grouping: [], problems: [] };
  parser.parse(text).iterate({
    enter({ type, name, from, to, node }) {
      const here = text.slice(from, to);
      if (type.isError) facts.problems.push(`at ${from}: ${text.slice(from, from + 30)}`);
      if (name === 'VectorSelector')
        facts.selectors.push({ metric: text.slice(from, node.getChild('Identifier')?.to ?? from), matchers: [] });
      if (name === 'UnquotedLabelMatcher') {
        const label = node.getChild('LabelName');
        const value = node.getChild('StringLiteral');
        if (label && value)
          facts.selectors.at(-1)?.matchers.push({
            label: text.slice(label.from, label.to),
            value: text.slice(value.from + 1, value.to - 1),
          });
      }
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') facts.grouping.push(here);
    },
  });
  return facts;
}

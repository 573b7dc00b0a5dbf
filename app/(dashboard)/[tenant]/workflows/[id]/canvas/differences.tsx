'use client'
import { SegmentedControl, Skeleton, Stack } from '@mantine/core'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { CodeDiff } from '@/app/_ui/code-diff'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { DefinitionDiff } from '@/server/definition/diff'
import { definitionOf, labelIn } from '../model/definition'
import { DiffList } from '../parts/diff-list'
import type { DiffGraphProps } from './diff-graph'

/** Two definitions on one graph, loaded when it is first shown. */
export const DiffGraph = dynamic<DiffGraphProps>(
  () => loadPart(() => import('./diff-graph').then((module) => module.DiffGraph)),
  { ssr: false, loading: inPlace(<Skeleton height={420} radius="md" />) },
)

const SHOWN = [
  { value: 'graph', label: 'Graph' },
  { value: 'list', label: 'List' },
  { value: 'json', label: 'JSON' },
]

/** What differs between two definitions: on the graph, as a list, and as JSON. */
export function Differences({ diff, label, ...compared }: Omit<DiffGraphProps, 'ways'> & { diff: DefinitionDiff }) {
  const { before, after } = compared
  const onGraph = diff.steps.length + diff.edges.length > 0 || diff.meta.some(({ path }) => path === 'initialStep')
  const [shown, setShown] = useState(onGraph ? 'graph' : 'list')
  const nameOf = (stepId: string) => labelIn(stepId, after, before)
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Show the changes as"
        size="xs"
        data={SHOWN}
        value={shown}
        onChange={setShown}
        style={{ justifySelf: 'start', alignSelf: 'flex-start' }}
      />
      {shown === 'graph' && (
        <>
          <DiffGraph label={label} {...compared} />
          <DiffList diff={besidesGraph(diff)} nameOf={nameOf} />
        </>
      )}
      {shown === 'list' && <DiffList diff={diff} nameOf={nameOf} />}
      {shown === 'json' && (
        <CodeDiff
          label={label}
          before={JSON.stringify(definitionOf(before), null, 2)}
          after={JSON.stringify(definitionOf(after), null, 2)}
        />
      )}
    </Stack>
  )
}

/** The differences that no box and no line shows. */
function besidesGraph(diff: DefinitionDiff): DefinitionDiff {
  const meta = diff.meta.filter(({ path }) => path !== 'initialStep')
  return { ...diff, meta, steps: [], edges: [], reordered: false }
}

'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ArrowDown } from 'lucide-react'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { shortcutKey } from '@/app/_ui/keys'
import { singleKeysOn } from '@/app/_ui/single-keys'
import type { Catalog } from '@/server/steps/catalog'
import { ChangeMark, MARKS } from '../parts/change-mark'
import { Fields } from '../parts/diff-list'
import { MarkSign } from '../parts/mark-sign'
import { type Compared, type DrawnDiff, drawDiff, type Marked, nodeName } from './diff-drawn'
import styles from './diff-graph.module.css'
import { markWays, type Ways, type WayWords } from './diff-paths'
import { type Said, StillGraph } from './still-graph'

export interface DiffGraphProps extends Compared {
  /** The graph's accessible name. */
  label: string
  /** The ways of one run through both. From where they part, they are marked too, and the graph begins there. */
  ways?: Ways | undefined
  /** What they are called; by default before and now. */
  words?: WayWords
  /** Gets the id of a step or START. Without, what differs about it is shown below. */
  onOpen?: (nodeId: string) => void
}

/** Two definitions as one graph: what was added, removed, changed or moved, each with a sign and a word. */
export function DiffGraph(props: DiffGraphProps) {
  const trpc = useTRPC()
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  if (catalog.error) return <ErrorState error={catalog.error} onRetry={() => catalog.refetch()} />
  if (!catalog.data) return <Skeleton height={420} radius="md" />
  return <Both {...props} catalog={catalog.data} />
}

function Both({ before, after, layout, label, ways, words, onOpen, catalog }: DiffGraphProps & { catalog: Catalog }) {
  const drawn = useMemo(() => drawDiff({ before, after, layout }, catalog), [before, after, layout, catalog])
  const walked = useMemo(() => (ways ? markWays(ways, drawn.diff, words) : null), [ways, words, drawn])
  const said = useMemo(() => saidOf(drawn, walked?.steps ?? NONE), [drawn, walked])
  const lines = useMemo(() => new Map([...drawn.lines, ...(walked?.lines ?? NONE)]), [drawn, walked])
  const [selected, setSelected] = useState<string | null>(null)
  const { stops } = drawn
  // Two ways of one run through the same definition: nothing else differs.
  const onlyWays = ways !== undefined && stops.length === 0
  const at = stops.indexOf(selected ?? '')
  const next = () => setSelected(stops[(at + 1) % stops.length] ?? null)

  function onKeyDown(event: KeyboardEvent) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !singleKeysOn()) return
    if (shortcutKey(event.nativeEvent) !== 'n' || stops.length === 0) return
    event.preventDefault()
    event.stopPropagation()
    next()
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key of a button inside, for what has the focus here
    <div className={styles.both} onKeyDown={onKeyDown}>
      <div className={styles.bar}>
        {!onlyWays && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<ArrowDown size={14} aria-hidden />}
            disabled={stops.length === 0}
            onClick={next}
            aria-keyshortcuts="N"
            title="Next change (N)"
          >
            Next change
          </Button>
        )}
        <span className={styles.told} role="status">
          {selected !== null && <Told drawn={drawn} id={selected} place={at} said={said.get(selected)} />}
        </span>
      </div>
      {!onlyWays && <Legend drawn={drawn} />}
      <div className={styles.graph}>
        <MarkSign value={ChangeMark}>
          <StillGraph
            label={label}
            definition={drawn.union}
            catalog={catalog}
            layout={drawn.layout}
            drawn={drawn.drawn}
            said={said}
            lines={lines}
            selected={selected}
            begin={walked?.parts ?? stops[0] ?? null}
            follow
            onOpen={(id) => {
              setSelected(id)
              onOpen?.(id)
            }}
          />
        </MarkSign>
      </div>
      {selected !== null && !onOpen && <Details drawn={drawn} id={selected} />}
    </div>
  )
}

const NONE: ReadonlyMap<string, Marked> = new Map()

function saidOf({ steps }: DrawnDiff, walked: ReadonlyMap<string, Marked>): Map<string, Said> {
  const ids = new Set([...steps.keys(), ...walked.keys()])
  return new Map(
    [...ids].map((id): [string, Said] => {
      const both = [steps.get(id), walked.get(id)].flatMap((marked) => marked ?? [])
      const words = both.map((one) => one.words).join(' · ')
      return [id, { ...(both[0] ? { mark: both[0].mark } : {}), note: words, words }]
    }),
  )
}

/** How many of each kind there are, which also explains the signs. */
function Legend({ drawn: { stops, steps, diff } }: { drawn: DrawnDiff }) {
  if (stops.length === 0) return <span className={styles.note}>No step and no connection differs.</span>
  const marks = [...new Set(stops.flatMap((id) => steps.get(id)?.mark ?? []))]
  const removed = diff.edges.some(({ kind }) => kind === 'removed')
  return (
    <span className={styles.legend}>
      {marks.map((mark) => (
        <span key={mark} className={styles.kind}>
          <ChangeMark mark={mark} />
          {stops.filter((id) => steps.get(id)?.mark === mark).length} {MARKS[mark].word.toLowerCase()}
        </span>
      ))}
      {removed && <span className={styles.note}>Dashed lines were removed.</span>}
    </span>
  )
}

/** The selected node, and what differs about it. */
function Told({ drawn, id, place, said }: { drawn: DrawnDiff; id: string; place: number; said: Said | undefined }) {
  return (
    <>
      {place !== -1 && `${place + 1} of ${drawn.stops.length}: `}
      <strong>{nodeName(drawn.union, id)}</strong>, {said ? lower(said.words) : 'the same'}
    </>
  )
}

const lower = (words: string) => `${words.charAt(0).toLowerCase()}${words.slice(1)}`

/** The fields and connections of the selected node that differ. */
function Details({ drawn: { diff, union }, id }: { drawn: DrawnDiff; id: string }) {
  const fields = diff.steps.find((step) => step.id === id)?.fields ?? []
  const edges = diff.edges.filter(({ from, kind }) => from === id && kind !== 'same')
  if (fields.length + edges.length === 0) return null
  return (
    <section aria-label={`What differs about ${nodeName(union, id)}`} className={styles.details}>
      <Fields fields={fields} />
      {edges.map(({ exit, to, kind }) => (
        <span key={`${kind} ${exit} ${to}`} className={styles.kind}>
          <ChangeMark mark={kind === 'removed' ? 'removed' : 'added'} />
          {MARKS[kind === 'removed' ? 'removed' : 'added'].word}: connection to {nodeName(union, to)}
          {exit !== 'next' && ` at ${exit}`}
        </span>
      ))}
    </section>
  )
}

'use client'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { FilesOfText } from '@/app/_ui/files/file-value'
import styles from './playground.module.css'

const STATES = {
  busy: { icon: LoaderCircle, text: 'running' },
  ok: { icon: CircleCheck, text: 'done' },
  failed: { icon: CircleX, text: 'failed' },
  unknown: { icon: CircleDashed, text: 'no answer' },
}

/** A tool call or a hand-off to an agent, with its input and output. */
export function ToolCall(props: { name: string; input: string; output: string | null; state: keyof typeof STATES }) {
  const { name, input, output, state } = props
  const { icon: Icon, text } = STATES[state]
  const title = useTitle(name)
  return (
    <details className={styles.call}>
      <summary>
        <Icon size={14} aria-hidden className={styles[state]} />
        <span>{title}</span>
        <span className={styles.note}>{text}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.callBody} tabIndex={0} aria-label={`${title}, details`}>
        <span className={styles.note}>Input</span>
        <pre>{input}</pre>
        <FilesOfText text={input} />
        {output !== null && (
          <>
            <span className={styles.note}>{state === 'failed' ? 'Error' : 'Output'}</span>
            <pre>{output}</pre>
            <FilesOfText text={output} />
          </>
        )}
      </section>
    </details>
  )
}

/** Messages have the id of a tool; people know it by name. */
function useTitle(name: string): string {
  const trpc = useTRPC()
  const handOff = name.startsWith('handoff_')
  const id = handOff ? name.slice('handoff_'.length) : name
  const tool = useQuery({ ...trpc.tools.get.queryOptions({ id }), enabled: !handOff, retry: false, staleTime: 60_000 })
  const agent = useQuery({
    ...trpc.agents.get.queryOptions({ id }),
    enabled: handOff,
    retry: false,
    staleTime: 60_000,
  })
  if (handOff) return `Handed to ${agent.data?.name ?? id}`
  return `Called ${tool.data?.name ?? id}`
}

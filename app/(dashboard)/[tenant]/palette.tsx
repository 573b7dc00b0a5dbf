'use client'
import '@mantine/spotlight/styles.css'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import styles from './palette.module.css'
import { useCommands, useFoundCommands } from './palette-commands'
import { type Command, matching } from './palette-match'

const [store, palette] = createSpotlight()
const LIST = 'palette-results'
/** Makes the scroll area reachable with Tab. The list passes these props on, although its types omit them. */
const SCROLLS: object = { viewportProps: { tabIndex: 0, role: 'group', 'aria-label': 'Results' } }

/** The command palette. Loaded on first use. */
export function Palette({
  asked,
  onKeys,
}: {
  /** Rises each time the palette is requested. */ asked: number
  onKeys: () => void
}) {
  const trpc = useTRPC()
  const [query, setQuery] = useState('')
  const text = query.trim()
  const commands = useCommands(onKeys)
  const found = useQuery({
    ...trpc.home.find.queryOptions({ q: text.slice(0, 200) }),
    enabled: text.length >= 2,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })
  const things = useFoundCommands(text.length >= 2 ? (found.data ?? []) : [])
  useEffect(() => {
    if (asked > 0) palette.open()
  }, [asked])
  const shown = [...things, ...matching(commands, text)]
  const groups = grouped(shown)
  const ids = shown.map(({ id }) => id).join('\n')
  // Enter opens the first result unless another is selected.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the list is another
  useEffect(() => {
    if (text) chooseFirst()
  }, [ids, text])
  return (
    <Spotlight.Root
      store={store}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      scrollable
      maxHeight="26rem"
      size="lg"
      title="Search everything"
      classNames={{ header: 'visually-hidden' }}
    >
      <Spotlight.Search
        placeholder="Search by name or id, or type a command"
        aria-label="Search screens, commands, workflows and runs"
        leftSection={<Search size={18} aria-hidden />}
      />
      <div className="visually-hidden" role="status">
        {text ? `${shown.length} found${shown[0] ? `, first ${shown[0].label}` : ''}` : ''}
      </div>
      <Spotlight.ActionsList id={LIST} {...SCROLLS}>
        {groups.map(([group, commands]) => (
          <Spotlight.ActionsGroup key={group} label={group}>
            {commands.map(({ id, label, hint, icon: Icon, run }) => (
              <Spotlight.Action
                key={id}
                label={label}
                leftSection={<Icon size={18} strokeWidth={1.75} aria-hidden />}
                rightSection={hint ? <span className={styles.hint}>{hint}</span> : null}
                onClick={run}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && (
          <Spotlight.Empty>{found.isFetching ? 'Looking' : `Nothing matches “${text}”`}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

/** Simulates the arrow keys: the library has no call for this. */
function chooseFirst(): void {
  const list = document.getElementById(LIST)
  for (const chosen of list?.querySelectorAll('[data-selected]') ?? []) chosen.removeAttribute('data-selected')
  list?.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  store.setState({ ...store.getState(), selected: 0 })
}

function grouped(commands: Command[]): [string, Command[]][] {
  const groups = new Map<string, Command[]>()
  for (const command of commands) groups.set(command.group, [...(groups.get(command.group) ?? []), command])
  return [...groups]
}

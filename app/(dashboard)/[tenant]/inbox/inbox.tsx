'use client'
import { Button, Checkbox, SegmentedControl, Select, Skeleton } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ChevronLeft, Inbox as InboxIcon, ListFilter, SearchX } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { network } from '@/app/_ui/network'
import { notifyDone } from '@/app/_ui/notify'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { inPlace, loadPart } from '@/app/_ui/part'
import { SearchField } from '@/app/_ui/search-field'
import { Time } from '@/app/_ui/time'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { TaskCount } from '@/server/views/tasks/count'
import type { Task } from '@/server/views/tasks/get'
import { choicesOf } from '../_versioned/choices'
import { useTenant } from '../tenant-context'
import styles from './inbox.module.css'
import { QueueSkeleton } from './queue-skeleton'
import { RefusedList } from './refused-list'
import { type FirstView, filterOf, idOf, inputOf, readTaskId } from './task-id'
import { TaskQueue } from './task-queue'

/** With all kinds of fields, most of the screen's code: loaded while users read the queue. */
const loadTaskView = () => import('./task-view').then((module) => module.TaskView)
const TaskView = dynamic(() => loadPart(loadTaskView), { loading: inPlace(<Skeleton height={240} radius="md" />) })

const TYPES = [
  { value: 'collect_inputs', label: 'Forms' },
  { value: 'request_user_action', label: 'Decisions' },
]

/**
 * Runs waiting for a person: the queue, with the chosen task next to it.
 * @param props.first the tab it opens with, unless the URL names one or a task
 */
export function Inbox({ first }: { first: FirstView }) {
  const trpc = useTRPC()
  const { get, set } = useUrlState()
  const input = inputOf(get, first)
  const query = useInfiniteQuery(
    trpc.tasks.list.infiniteQueryOptions(input, {
      getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
      placeholderData: keepPreviousData,
    }),
  )
  const count = useQuery(trpc.tasks.count.queryOptions())
  const counts = useQuery({
    ...trpc.tasks.countViews.queryOptions(filterOf(input)),
    placeholderData: keepPreviousData,
  })
  // The navigation sends the same query, whose result may arrive before hydration, while the server's HTML lacks it.
  const mounted = useMounted()
  useEffect(() => {
    network.load(loadTaskView).catch(() => {})
  }, [])
  const tasks = useMemo(() => query.data?.pages.flatMap((page) => page.tasks) ?? [], [query.data])
  const searchedTo = query.data?.pages.at(-1)?.searchedTo
  const filtered = FILTERS.some((name) => get(name) !== '')
  // One source for both where possible, so that they always agree.
  const open = input.view !== 'done'
  const whole =
    input.view === undefined && !filtered && query.data !== undefined && !query.hasNextPage && !query.isPlaceholderData
  const waiting = whole ? { count: tasks.length, more: false } : count.data
  const chosen = readTaskId(get('task'))
  const place = chosen ? tasks.findIndex((task) => idOf(task) === get('task')) : -1
  const view = input.view ?? 'open'
  // The URL names the tab from then on, so that it stays, however few tasks are left in it.
  const select = useCallback((id: string | null) => set({ task: id, view }), [set, view])
  const next = useRef<string | null>(null)
  // The next task is known only while the chosen one is still in the queue, so remember it.
  useEffect(() => {
    if (place >= 0)
      next.current = tasks[place + 1] ? idOf(tasks[place + 1]) : tasks[place - 1] ? idOf(tasks[place - 1]) : null
  }, [place, tasks])
  const move = (by: number) => {
    const task = tasks[Math.min(tasks.length - 1, Math.max(0, place + by))]
    if (task) openForm(idOf(task))
  }
  // The task that was opened by a key or by the answer before it: its form gets the focus.
  const [focused, setFocused] = useState<string | null>(null)
  const openForm = (id: string) => {
    setFocused(id)
    select(id)
  }
  const goOn = (task: Task, held: boolean) => {
    if (!next.current || !open) return
    openForm(next.current)
    // A held answer has a notification with Undo.
    if (!held) notifyDone(`Answered: ${task.title}`)
  }
  const here = useRef(false)
  useEffect(() => {
    here.current = true
    return () => {
      here.current = false
    }
  }, [])
  useSingleKeys({ j: () => move(1), k: () => move(-1) })

  return (
    <>
      <PageHeader
        title="Inbox"
        meta={
          mounted && waiting && waiting.count > 0 ? (
            <span>
              {waiting.count}
              {waiting.more ? '+' : ''} waiting
            </span>
          ) : undefined
        }
      />
      <PageBody>
        <div className={styles.inbox} data-open={chosen ? true : undefined}>
          <section className={styles.queue} aria-label="Queue">
            <SegmentedControl
              aria-label="Tasks"
              data={VIEWS.map(({ value, label }) => ({
                value,
                label: (
                  <>
                    <span>{label}</span>
                    {value !== 'done' && <InView count={value === 'open' && whole ? waiting : counts.data?.[value]} />}
                  </>
                ),
              }))}
              value={view}
              onChange={(view) => set({ view, task: null, by: null })}
              fullWidth
            />
            <Filters get={get} set={set} />
            <RefusedList selected={get('task')} onSelect={select} />
            {query.error && <ErrorState error={query.error} onRetry={() => query.refetch()} />}
            {query.isPending && <QueueSkeleton />}
            {query.data && tasks.length === 0 && (
              <Nothing
                view={view}
                filtered={filtered}
                onClear={() => set(Object.fromEntries(FILTERS.map((name) => [name, null])))}
              />
            )}
            <TaskQueue tasks={tasks} selected={get('task')} onSelect={select} />
            {searchedTo && (
              <p className={styles.hint}>
                Searched the tasks answered since <Time at={searchedTo} absolute />.
              </p>
            )}
            {query.hasNextPage && (
              <Button
                variant="default"
                fullWidth
                loading={query.isFetchingNextPage}
                onClick={() => query.fetchNextPage()}
              >
                {searchedTo ? 'Search older ones' : 'Show more'}
              </Button>
            )}
          </section>
          {/* biome-ignore lint/a11y/noStaticElementInteractions: catches a key of the fields in it */}
          <div className={styles.task} onKeyDown={leaveField}>
            {chosen ? (
              <>
                <Button
                  variant="subtle"
                  color="gray"
                  className={styles.backToQueue ?? ''}
                  leftSection={<ChevronLeft size={16} aria-hidden />}
                  onClick={() => select(null)}
                >
                  All tasks
                </Button>
                <TaskView
                  key={get('task')}
                  {...chosen}
                  onChanged={() => query.refetch()}
                  onNext={() => select(next.current)}
                  onAnswered={goOn}
                  onUndone={() => here.current && select(get('task'))}
                  focus={focused === get('task')}
                />
              </>
            ) : (
              tasks.length > 0 && (
                // No task is chosen automatically: a single key answers the chosen one.
                <div className={styles.choose}>
                  <EmptyState icon={InboxIcon} title="Choose a task">
                    <span className="with-keyboard">Or press J for the first.</span>
                  </EmptyState>
                </div>
              )
            )}
          </div>
        </div>
      </PageBody>
    </>
  )
}

/** After Escape in a field, J and K move again. */
function leaveField(event: KeyboardEvent<HTMLElement>): void {
  const { target } = event
  if (event.key !== 'Escape' || event.defaultPrevented || !(target instanceof HTMLElement)) return
  if (target.getAttribute('aria-expanded') !== 'true' && target.matches('input, textarea, select')) target.blur()
}

const VIEWS = [
  { value: 'mine', label: 'Mine' },
  { value: 'roles', label: 'My roles' },
  { value: 'open', label: 'All' },
  { value: 'done', label: 'Done' },
] as const

/** A view's number of tasks. */
function InView({ count }: { count: TaskCount | undefined }) {
  if (!count || count.count === 0) return null
  return (
    <span className={styles.inView}>
      {' '}
      {count.count}
      {count.more ? '+' : ''}
    </span>
  )
}

const FILTERS = ['q', 'workflow', 'type', 'tests', 'by']

function Filters({ get, set }: Pick<ReturnType<typeof useUrlState>, 'get' | 'set'>) {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.runs.workflows.queryOptions(), staleTime: 60_000 })
  const [opened, setOpened] = useState(false)
  const count = FILTERS.filter((name) => name !== 'q' && get(name) !== '').length
  return (
    <div className={styles.filters} data-opened={opened || undefined}>
      <SearchField
        aria-label="Search tasks"
        placeholder="Title, key or workflow"
        text={get('q')}
        onSearch={(q) => set({ q })}
        className={styles.search ?? ''}
      />
      {/* On a phone, so that the first task is visible. */}
      <Button
        variant="default"
        className={styles.filter ?? ''}
        leftSection={<ListFilter size={16} aria-hidden />}
        aria-expanded={opened}
        onClick={() => setOpened(!opened)}
      >
        {count === 0 ? 'Filter' : `Filter (${count})`}
      </Button>
      <Select
        className={styles.workflow ?? ''}
        aria-label="Workflow"
        placeholder="Any workflow"
        data={choicesOf(data ?? [])}
        value={get('workflow') || null}
        onChange={(workflow) => set({ workflow })}
        searchable
        clearable
      />
      <Select
        aria-label="Type"
        placeholder="Any type"
        data={TYPES}
        value={get('type') || null}
        onChange={(type) => set({ type })}
        clearable
      />
      {get('view') !== 'done' && (
        <Select
          aria-label="Order"
          data={[
            { value: 'oldest', label: 'Oldest first' },
            { value: 'newest', label: 'Newest first' },
          ]}
          value={get('sort') === 'newest' ? 'newest' : 'oldest'}
          onChange={(sort) => set({ sort: sort === 'newest' ? sort : null })}
          allowDeselect={false}
        />
      )}
      <div className={styles.checks}>
        {get('view') === 'done' && (
          <Checkbox
            label="Answered by me"
            checked={get('by') !== ''}
            onChange={(event) => set({ by: event.currentTarget.checked ? 'me' : null })}
          />
        )}
        <Checkbox
          label="Include test runs"
          checked={get('tests') !== ''}
          onChange={(event) => set({ tests: event.currentTarget.checked ? '1' : null })}
        />
      </div>
    </div>
  )
}

const NOTHING = {
  open: [
    'Nothing is waiting for a person',
    'Tasks appear here when a step of a run asks for inputs or a decision, or when an agent asks before it makes a call.',
  ],
  mine: [
    'You have nothing to do',
    'Here are tasks that you have claimed, or that are assigned to you or to one of your groups.',
  ],
  roles: ['Nothing is waiting for your role', 'Here are tasks for your role that nobody has claimed yet.'],
  done: ['No tasks have been answered yet', 'Answered tasks are kept here, with who answered what and when.'],
} as const

function Nothing({ view, filtered, onClear }: { view: string; filtered: boolean; onClear: () => void }) {
  const { may, path } = useTenant()
  if (filtered) {
    return (
      <EmptyState
        icon={SearchX}
        title="No tasks match"
        actions={
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        }
      />
    )
  }
  const [title, text] = NOTHING[view as keyof typeof NOTHING] ?? NOTHING.open
  return (
    <EmptyState
      icon={InboxIcon}
      title={title}
      actions={
        view !== 'done' &&
        may('run:start') && (
          <Button variant="default" component={Link} href={path('/start')}>
            Start a workflow
          </Button>
        )
      }
    >
      {text}
    </EmptyState>
  )
}

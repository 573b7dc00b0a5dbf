'use client'
import { Button, Menu, Skeleton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ListChecks, Pencil, Play, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { ErrorState } from '@/app/_ui/error-state'
import { ReasonButton } from '@/app/_ui/reason-button'
import { RowAction, RowMenu } from '@/app/_ui/row-menu'
import type { Expected } from '@/server/definition/test-case'
import type { CaseResult } from '@/server/versioned/run-cases'
import { sameJson } from '../_versioned/json'
import { CaseDifferences, CaseOutcome, spentText } from './case-results'
import { DeleteCase, RenameCase } from './change-dialogs'
import { ExpectedDialog } from './expected-dialog'
import { expectedText } from './expected-text'
import { casesText } from './publish-cases'
import styles from './test-cases.module.css'

export interface KeptCase {
  id: string
  name: string
  expected: Expected
  author: string
}

export interface TestCasesProps<K extends KeptCase> {
  list: { data: K[] | undefined; error: unknown; refetch: () => unknown }
  /** The tool or agent on screen. Null for users who may not run it. */
  form: object | null
  /** Why no case can run now. */
  obstacle: string | null
  server: {
    run: (only?: string[]) => Promise<{ results: CaseResult[] }>
    rename: (caseId: string, name: string) => Promise<unknown>
    change: (caseId: string, expected: Expected) => Promise<unknown>
    remove: (caseId: string) => Promise<unknown>
  }
  /** The possible kinds of expectation. */
  kinds: readonly Expected['kind'][]
  /** The hint shown without cases. */
  empty: string
  /** Opens a case's input. */
  open: { label: string; onOpen: (kept: K) => void } | null
  /** Beside the title. */
  children?: ReactNode
}

/** A tool's or agent's test cases: run them against the form on screen, rename or delete them. */
export function TestCases<K extends KeptCase>(props: TestCasesProps<K>) {
  const { list, form, obstacle, server, kinds, empty, open, children } = props
  // By case, with the tested form.
  const [ran, setRan] = useState<ReadonlyMap<string, { result: CaseResult; form: object }>>(new Map())
  const [changed, setChanged] = useState<{ kept: K; how: 'rename' | 'expected' | 'delete' } | null>(null)
  const run = useMutation({
    mutationFn: async ({ only, form }: { only?: string[]; form: object }) => ({
      form,
      ...(await server.run(only)),
    }),
    onSuccess: ({ results, form }) =>
      setRan((now) => new Map([...now, ...results.map((result) => [result.id, { result, form }] as const)])),
  })
  const cases = list.data
  const busy = (id: string) => run.isPending && (run.variables.only?.includes(id) ?? true)
  const isOutdated = (tested: object) => form !== null && !sameJson(tested, form)
  const fresh = (cases ?? []).flatMap(({ id }) => {
    const one = ran.get(id)
    return one && !isOutdated(one.form) ? [one.result] : []
  })
  const start = (only?: string[]) => {
    if (form && obstacle === null && !run.isPending) run.mutate({ form, ...(only ? { only } : {}) })
  }
  return (
    <section className={styles.section} aria-labelledby="test-cases">
      <header className={styles.head}>
        <h2 id="test-cases">Test cases</h2>
        <div className={styles.actions}>
          {children}
          {form && cases && cases.length > 0 && (
            <ReasonButton
              variant="default"
              reason={obstacle}
              loading={run.isPending}
              leftSection={<Play size={16} aria-hidden />}
              onClick={() => start()}
            >
              Run all
            </ReasonButton>
          )}
        </div>
      </header>
      {fresh.length > 1 && (
        <p className={styles.summary} role="status">
          {[casesText(fresh), ...spentText(fresh)].join(', ')}
        </p>
      )}
      {run.error && <ErrorState error={run.error} title="The test cases were not run" />}
      {list.error !== null && !cases && <ErrorState error={list.error} onRetry={() => list.refetch()} />}
      {!cases && list.error === null && <Skeleton height={48} radius="md" />}
      {cases?.length === 0 && (
        <p className={styles.none}>
          <ListChecks size={16} aria-hidden /> {empty}
        </p>
      )}
      {cases && cases.length > 0 && (
        <ul className={styles.cases}>
          {cases.map((kept) => {
            const { id, name } = kept
            const one = ran.get(id)
            return (
              <li key={id} className={styles.case}>
                <div className={styles.line}>
                  <div className={styles.about}>
                    <span className={styles.name}>{name}</span>
                    <span className={styles.note}>{expectedText(kept.expected)}</span>
                  </div>
                  {one && !busy(id) && !isOutdated(one.form) && <CaseOutcome result={one.result} />}
                  {!one && !busy(id) && form && <span className={styles.note}>Not run here yet</span>}
                  {one && !busy(id) && isOutdated(one.form) && (
                    <span className={styles.note}>From before your latest changes</span>
                  )}
                  {form && (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      aria-label={`Run ${name}`}
                      disabled={obstacle !== null || run.isPending}
                      loading={busy(id)}
                      onClick={() => start([id])}
                    >
                      Run
                    </Button>
                  )}
                  {(open || form) && (
                    <RowMenu of={name} width={220} className={styles.menu ?? ''}>
                      {open && <Menu.Item onClick={() => open.onOpen(kept)}>{open.label}</Menu.Item>}
                      {form && (
                        <>
                          <RowAction icon={Pencil} onClick={() => setChanged({ kept, how: 'rename' })}>
                            Rename
                          </RowAction>
                          <RowAction icon={ListChecks} onClick={() => setChanged({ kept, how: 'expected' })}>
                            Edit what it expects
                          </RowAction>
                          <RowAction icon={Trash2} onClick={() => setChanged({ kept, how: 'delete' })}>
                            Delete
                          </RowAction>
                        </>
                      )}
                    </RowMenu>
                  )}
                </div>
                {one && !busy(id) && !isOutdated(one.form) && <CaseDifferences result={one.result} />}
              </li>
            )
          })}
        </ul>
      )}
      {changed?.how === 'rename' && (
        <RenameCase
          name={changed.kept.name}
          rename={(name) => server.rename(changed.kept.id, name)}
          onClose={() => setChanged(null)}
        />
      )}
      {changed?.how === 'expected' && (
        <ExpectedDialog
          name={changed.kept.name}
          expected={changed.kept.expected}
          kinds={kinds}
          change={async (expected) => {
            await server.change(changed.kept.id, expected)
            // The old result compares with the old expectation.
            setRan((now) => new Map([...now].filter(([id]) => id !== changed.kept.id)))
          }}
          onClose={() => setChanged(null)}
        />
      )}
      {changed?.how === 'delete' && (
        <DeleteCase
          name={changed.kept.name}
          remove={() => server.remove(changed.kept.id)}
          onClose={() => setChanged(null)}
        />
      )}
    </section>
  )
}

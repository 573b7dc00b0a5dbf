'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ListPlus } from 'lucide-react'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { ReasonButton } from '@/app/_ui/reason-button'
import type { ToolCase } from '@/server/definition/test-case'
import type { KeepToolCase as KeptBody } from '@/server/tools/test-cases'
import { TestCases } from '../../_test-cases/test-cases'
import styles from '../../_test-cases/test-cases.module.css'
import type { OnScreen } from '../../_versioned/on-screen'
import { KeepToolCase, type Tested } from './keep-tool-case'
import type { ToolForm } from './tool-form'

/** The tool's test cases, and the test on screen as the next one. */
export function ToolCases(props: {
  toolId: string
  /** Null for users who may not change the tool. */
  onScreen: OnScreen<ToolForm> | null
  /** Why no test can run now. */
  obstacle: string | null
  /** The last test; null without one, or if the tool or the arguments have changed since. */
  tested: Tested | null
  onOpen: (given: ToolCase) => void
}) {
  const { toolId: id, onScreen, obstacle, tested, onOpen } = props
  const trpc = useTRPC()
  const { tools } = useTRPCClient()
  const queries = useQueryClient()
  const [keeping, setKeeping] = useState<Tested | null>(null)
  const list = useQuery(trpc.tools.cases.queryOptions({ id }))
  const changed = async <T,>(change: Promise<T>) => {
    const done = await change
    await queries.invalidateQueries({ queryKey: trpc.tools.cases.queryKey({ id }) })
    // The tool includes their number.
    await queries.invalidateQueries({ queryKey: trpc.tools.open.queryKey({ id }) })
    return done
  }
  const form = onScreen?.form ?? null
  return (
    <>
      <TestCases
        list={list}
        form={form}
        obstacle={obstacle}
        server={{
          run: (only) => tools.runCases.mutate({ id, body: { draft: form ?? {}, ...(only ? { only } : {}) } }),
          rename: (caseId, name) => changed(tools.renameCase.mutate({ id, caseId, name })),
          // One of the kinds below.
          change: (caseId, expected) =>
            changed(tools.changeExpected.mutate({ id, caseId, expected: expected as KeptBody['expected'] })),
          remove: (caseId) => changed(tools.deleteCase.mutate({ id, caseId })),
        }}
        kinds={['succeeds', 'fails', 'fields', 'equals']}
        empty={
          form
            ? 'None yet. Run a test and keep it: it then runs each time before the tool is published.'
            : 'This tool has no test cases.'
        }
        open={{ label: 'Use its arguments', onOpen: ({ given }) => onOpen(given) }}
      >
        {form && (
          <>
            {!tested && <span className={styles.note}>To keep a test, run it first.</span>}
            <ReasonButton
              variant="default"
              reason={tested ? null : 'Run a test first'}
              leftSection={<ListPlus size={16} aria-hidden />}
              onClick={() => setKeeping(tested)}
            >
              Keep as a test case
            </ReasonButton>
          </>
        )}
      </TestCases>
      {keeping && (
        <KeepToolCase
          tested={keeping}
          keep={(body) => changed(tools.keepCase.mutate({ id, body }))}
          onClose={() => setKeeping(null)}
        />
      )}
    </>
  )
}

'use client'
import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ListPlus } from 'lucide-react'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import type { Definition } from '@/server/definition/schema'
import type { ExpectedOfWorkflow } from '@/server/workflows/test-cases'
import { TestCases } from '../../../_test-cases/test-cases'
import { useTenant } from '../../../tenant-context'
import { KeepWorkflowCase } from './keep-workflow-case'

/** The workflow's test cases: stored runs, whose results and answers test the draft. */
export function WorkflowCases({ workflowId: id, definition }: { workflowId: string; definition: Definition }) {
  const trpc = useTRPC()
  const { workflows } = useTRPCClient()
  const queries = useQueryClient()
  const { may } = useTenant()
  const [keeping, setKeeping] = useState(false)
  const list = useQuery(trpc.workflows.cases.queryOptions({ id }))
  const changed = async <T,>(change: Promise<T>) => {
    const done = await change
    await queries.invalidateQueries({ queryKey: trpc.workflows.cases.queryKey({ id }) })
    return done
  }
  const mayEdit = may('workflow:write')
  return (
    <>
      <TestCases
        list={list}
        form={mayEdit ? definition : null}
        obstacle={null}
        server={{
          run: (only) => workflows.runCases.mutate({ id, body: only ? { only } : {} }),
          rename: (caseId, name) => changed(workflows.renameCase.mutate({ id, caseId, name })),
          // One of the kinds below.
          change: (caseId, expected) =>
            changed(workflows.changeExpected.mutate({ id, caseId, expected: expected as ExpectedOfWorkflow })),
          remove: (caseId) => changed(workflows.deleteCase.mutate({ id, caseId })),
        }}
        kinds={['succeeds', 'fails', 'fields', 'equals']}
        empty={
          mayEdit
            ? 'None yet. Keep a run, and the draft is tested with its results and answers each time someone publishes it.'
            : 'This workflow has no test cases.'
        }
        open={null}
      >
        {mayEdit && may('run:read') && (
          <Button variant="default" leftSection={<ListPlus size={16} aria-hidden />} onClick={() => setKeeping(true)}>
            Keep a run
          </Button>
        )}
      </TestCases>
      {keeping && (
        <KeepWorkflowCase
          workflowId={id}
          keep={(body) => changed(workflows.keepCase.mutate({ id, body }))}
          onClose={() => setKeeping(false)}
        />
      )}
    </>
  )
}

'use client'
import { Button } from '@mantine/core'
import { ListPlus } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { asData, type Turn } from './conversation'

const KeepAgentCase = dynamic(
  () => loadDialog(() => import('../../_test-cases/lazy').then((module) => module.KeepAgentCase)),
  { ssr: false, loading: WaitingDialog },
)

/** Offers to save a thread as a test case. */
export function KeepThread(props: { agentId: string; threadId: string; last: Turn; structured: boolean }) {
  const { agentId, threadId, last, structured } = props
  const [keeping, setKeeping] = useState(false)
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<ListPlus size={16} aria-hidden />}
        onClick={() => setKeeping(true)}
      >
        Keep as a test case
      </Button>
      {keeping && (
        <KeepAgentCase
          agentId={agentId}
          threadId={threadId}
          last={{ message: last.message, data: structured ? asData(last.text) : null }}
          onClose={() => setKeeping(false)}
        />
      )}
    </>
  )
}

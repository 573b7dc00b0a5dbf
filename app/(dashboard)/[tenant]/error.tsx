'use client'
import { Button, Code } from '@mantine/core'
import { CloudOff, RefreshCw, TriangleAlert } from 'lucide-react'
import { CopyButton } from '@/app/_ui/copy-button'
import { EmptyState } from '@/app/_ui/empty-state'
import { Link } from '@/app/_ui/link'
import { tryAgain } from '@/app/_ui/network'
import { useRecovery } from '@/app/_ui/use-recovery'
import { useTenant } from './tenant-context'

/** Shown when a screen fails to render or could not be loaded. The navigation stays. */
export default function ScreenError({ error, retry }: { error: Error & { digest?: string }; retry: () => void }) {
  const { path } = useTenant()
  const waiting = useRecovery(error, retry)
  return (
    <div role={waiting ? 'status' : 'alert'}>
      <EmptyState
        icon={waiting ? CloudOff : TriangleAlert}
        title={waiting ? 'No network connection' : 'This screen could not be loaded'}
        actions={
          <>
            <Button leftSection={<RefreshCw size={16} aria-hidden />} onClick={waiting ? tryAgain : retry}>
              Try again
            </Button>
            {!waiting && (
              <Button variant="default" component={Link} href={path('')}>
                Go to Home
              </Button>
            )}
          </>
        }
      >
        {waiting
          ? 'This screen appears when the connection is back.'
          : 'Something went wrong on our side. Everything you saved is safe.'}
        {error.digest && (
          <div>
            To find it in the log, search for <Code>{error.digest}</Code>
            <CopyButton text={error.digest} label="Copy the log reference" />
          </div>
        )}
      </EmptyState>
    </div>
  )
}

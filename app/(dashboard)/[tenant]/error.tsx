'use client'
import { Button, Code } from '@mantine/core'
import { RefreshCw, TriangleAlert } from 'lucide-react'
import { CopyButton } from '@/app/_ui/copy-button'
import { EmptyState } from '@/app/_ui/empty-state'
import { Link } from '@/app/_ui/link'
import { useTenant } from './tenant-context'

/** Shown when a screen fails to render. The navigation stays. */
export default function ScreenError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  const { path } = useTenant()
  return (
    <div role="alert">
      <EmptyState
        icon={TriangleAlert}
        title="This screen could not be loaded"
        actions={
          <>
            <Button leftSection={<RefreshCw size={16} aria-hidden />} onClick={reset}>
              Try again
            </Button>
            <Button variant="default" component={Link} href={path('')}>
              Go to Home
            </Button>
          </>
        }
      >
        Something went wrong on our side. Everything you saved is safe.
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

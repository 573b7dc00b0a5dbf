'use client'
import { Button } from '@mantine/core'
import { SearchX } from 'lucide-react'
import { errorOf } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useTenant } from '../tenant-context'

/** The page of an agent or tool that failed to load or does not exist. */
export function ScreenProblem({
  noun,
  error,
  onRetry,
}: {
  noun: 'agent' | 'tool'
  error: unknown
  onRetry: () => void
}) {
  const { path } = useTenant()
  const [title, plural] = noun === 'agent' ? ['Agent', 'Agents'] : ['Tool', 'Tools']
  const unknown = errorOf(error).code.endsWith('_NOT_FOUND')
  return (
    <>
      <PageHeader title={title} back={{ href: path(`/${noun}s`), label: plural }} />
      <PageBody>
        {unknown ? (
          <EmptyState
            icon={SearchX}
            title={`This ${noun} does not exist`}
            actions={
              <Button component={Link} href={path(`/${noun}s`)} variant="default">
                All {noun}s
              </Button>
            }
          >
            Its id is unknown, or belongs to another workspace.
          </EmptyState>
        ) : (
          <ErrorState error={error} onRetry={onRetry} title={`The ${noun} could not be loaded`} />
        )}
      </PageBody>
    </>
  )
}

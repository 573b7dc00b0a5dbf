'use client'
import { Button } from '@mantine/core'
import { MapPinOff } from 'lucide-react'
import { EmptyState } from '@/app/_ui/empty-state'
import { Link } from '@/app/_ui/link'
import { useTenant } from './tenant-context'

/** Inside a workspace, an unknown id looks the same as one of another workspace. */
export default function ScreenNotFound() {
  const { path, name } = useTenant()
  return (
    <EmptyState
      icon={MapPinOff}
      title="Page not found"
      actions={
        <Button variant="default" component={Link} href={path('')}>
          Go to Home
        </Button>
      }
    >
      There is no such page in {name}, or what was here was deleted.
      <span className="with-keyboard"> Press Ctrl+K or ⌘K to search.</span>
    </EmptyState>
  )
}

'use client'
import { Button } from '@mantine/core'
import { MapPinOff } from 'lucide-react'
import Link from 'next/link'
import { EmptyState } from '@/app/_ui/empty-state'
import { useTenant } from './tenant-context'

/** Inside a workspace: an unknown id and one of another workspace look the same. */
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
      The address is unknown in {name}, or what was here was deleted. Ctrl+K or ⌘K finds what there is.
    </EmptyState>
  )
}

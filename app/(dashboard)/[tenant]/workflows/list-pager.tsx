'use client'
import { Button, Group } from '@mantine/core'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useUrlState } from '@/app/_ui/use-url-state'
import styles from './list.module.css'

export function ListPager({
  page,
  limit,
  total,
  shown,
}: {
  page: number
  limit: number
  total: number
  shown: number
}) {
  const { set } = useUrlState()
  const first = (page - 1) * limit + 1
  const last = first + shown - 1
  const go = (to: number) => {
    set({ page: to === 1 ? null : String(to) }, { push: true })
    window.scrollTo({ top: 0 })
  }
  return (
    <nav className={styles.foot} aria-label="Pages">
      <span className={styles.quiet} role="status">
        {total <= limit && page === 1
          ? `${total} ${total === 1 ? 'workflow' : 'workflows'}`
          : `${first}–${last} of ${total}`}
      </span>
      {(total > limit || page > 1) && (
        <Group gap="xs">
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<ChevronLeft size={16} aria-hidden />}
            disabled={page === 1}
            onClick={() => go(page - 1)}
          >
            Previous
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            rightSection={<ChevronRight size={16} aria-hidden />}
            disabled={last >= total}
            onClick={() => go(page + 1)}
          >
            Next
          </Button>
        </Group>
      )}
    </nav>
  )
}

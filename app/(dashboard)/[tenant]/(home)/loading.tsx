import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'

export default function Loading() {
  return (
    <>
      <PageHeader title={<Skeleton height={18} width={140} radius="sm" />} />
      <PageBody>
        <div aria-busy="true">
          <span className="visually-hidden">Loading</span>
          <Skeleton height={160} mb="md" radius="md" />
          <Skeleton height={160} radius="md" />
        </div>
      </PageBody>
    </>
  )
}

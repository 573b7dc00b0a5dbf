import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'

export function RunSkeleton() {
  return (
    <>
      <PageHeader title={<Skeleton height={20} width={240} />} />
      <PageBody>
        <Skeleton height={20} width="60%" mb="lg" />
        <Skeleton height={36} width={260} mb="md" />
        <Skeleton height={320} radius="md" />
      </PageBody>
    </>
  )
}

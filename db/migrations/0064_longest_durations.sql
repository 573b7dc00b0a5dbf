ALTER TABLE "run_days" ADD COLUMN "longest" double precision;--> statement-breakpoint
ALTER TABLE "wait_days" ADD COLUMN "longest" double precision;
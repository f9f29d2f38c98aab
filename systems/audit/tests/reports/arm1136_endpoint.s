@ --cpu arm1136jf-s: the slides' example: a load that could stand above the test before it
	.text
	.arm
	.global endpoint
	.type endpoint, %function
endpoint:
	ldr r0, [r4]
	and r3, r0, #3
	cmp r3, #1
	beq slow
	ldr r3, [ip, #-208]
	cmp r3, #0
	beq slow
	bx lr
slow:	bl panic
	.size endpoint, . - endpoint

/* SPDX-License-Identifier: MIT
 *
 * cprof/trace_scope.h - the macros of cprof/trace.h, which includes it.
 *
 *   CPROF_TRACE_SCOPE(name)                 from here to the end of the block,
 *   CPROF_TRACE_SCOPE_WITH_OBJECT(name, o)  whichever way it is left
 *   CPROF_TRACE_FUNC_SCOPE()                the same, named as the function
 *   CPROF_TRACE_BEGIN_FUNC_SCOPE()          to CPROF_TRACE_END_FUNC_SCOPE()
 *   CPROF_TRACE_BEGIN_FUNC_SCOPE_WITH_OBJECT(o)
 *   CPROF_TRACE_END_FUNC_SCOPE_WITH(x)      evaluates x, ends the scope, yields
 *                                           x: return ..._WITH(f(y));
 *   CPROF_TRACE_BEGIN_LOCAL_SCOPE(tag)      part of a function; `tag` is a word
 *   CPROF_TRACE_END_LOCAL_SCOPE(tag)
 *   CPROF_TRACE_INSTANT(name)
 *   CPROF_TRACE_COUNTER(name, value)
 *
 * Their category is __FILE__. In C++ the BEGIN ones are objects, too: what was
 * not ended on a way out (an exception) ends there.
 */
#ifndef CPROF_TRACE_SCOPE_H
#define CPROF_TRACE_SCOPE_H

#include <cprof/trace.h>

#ifdef CPROF_TRACE_DISABLE

#define CPROF_TRACE_SCOPE(name) ((void)0)
#define CPROF_TRACE_SCOPE_WITH_OBJECT(name, o) ((void)0)
#define CPROF_TRACE_FUNC_SCOPE() ((void)0)
#define CPROF_TRACE_BEGIN_FUNC_SCOPE() ((void)0)
#define CPROF_TRACE_BEGIN_FUNC_SCOPE_WITH_OBJECT(o) ((void)0)
#define CPROF_TRACE_END_FUNC_SCOPE() ((void)0)
#define CPROF_TRACE_END_FUNC_SCOPE_WITH(x) (x)
#define CPROF_TRACE_BEGIN_LOCAL_SCOPE(tag) ((void)0)
#define CPROF_TRACE_END_LOCAL_SCOPE(tag) ((void)0)
#define CPROF_TRACE_INSTANT(name) ((void)0)
#define CPROF_TRACE_COUNTER(name, value) ((void)0)

#else

#define CPROF_TRACE_PASTE_(a, b) CPROF_TRACE_PASTE2_(a, b)
#define CPROF_TRACE_PASTE2_(a, b) a##b
#define CPROF_TRACE_INSTANT(name) cprof_trace_instant((name), __FILE__, CPROF_TRACE_NULL_)
#define CPROF_TRACE_COUNTER(name, value) cprof_trace_counter((name), __FILE__, (value))

#define CPROF_TRACE_SCOPE(name) CPROF_TRACE_SCOPE_WITH_OBJECT(name, CPROF_TRACE_NULL_)
#define CPROF_TRACE_FUNC_SCOPE() CPROF_TRACE_SCOPE_WITH_OBJECT(__func__, CPROF_TRACE_NULL_)

#ifdef __cplusplus

namespace cprof
{
/* A span of this thread, as long as the object lives. */
class trace_scope
{
      public:
	trace_scope(const char *name, const char *category, const char *object)
	    : id_(cprof_trace_begin(name, category, object))
	{
	}
	~trace_scope()
	{
		end();
	}
	trace_scope(const trace_scope &) = delete;
	trace_scope &operator=(const trace_scope &) = delete;
	void end()
	{
		cprof_trace_end(id_);
		id_ = 0;
	}

      private:
	uint64_t id_;
};

/* Ends a scope at the end of the expression that it is made in, so that what is
 * evaluated there keeps its type: a reference, a bit-field, nothing at all. */
class trace_ending
{
      public:
	explicit trace_ending(trace_scope &scope) : scope_(scope)
	{
	}
	~trace_ending()
	{
		scope_.end();
	}
	trace_ending(const trace_ending &) = delete;
	trace_ending &operator=(const trace_ending &) = delete;

      private:
	trace_scope &scope_;
};
} // namespace cprof

#define CPROF_TRACE_SCOPE_WITH_OBJECT(name, o) \
	::cprof::trace_scope CPROF_TRACE_PASTE_(cprof_trace_scope_, __COUNTER__)((name), __FILE__, \
										 (o))
#define CPROF_TRACE_BEGIN_FUNC_SCOPE() \
	::cprof::trace_scope cprof_trace_func_scope_(__func__, __FILE__, CPROF_TRACE_NULL_)
#define CPROF_TRACE_BEGIN_FUNC_SCOPE_WITH_OBJECT(o) \
	::cprof::trace_scope cprof_trace_func_scope_(__func__, __FILE__, (o))
#define CPROF_TRACE_END_FUNC_SCOPE() cprof_trace_func_scope_.end()
#define CPROF_TRACE_END_FUNC_SCOPE_WITH(x) \
	(static_cast<void>(::cprof::trace_ending(cprof_trace_func_scope_)), (x))
#define CPROF_TRACE_BEGIN_LOCAL_SCOPE(tag) \
	::cprof::trace_scope cprof_trace_local_scope_##tag(#tag, __FILE__, CPROF_TRACE_NULL_)
#define CPROF_TRACE_END_LOCAL_SCOPE(tag) cprof_trace_local_scope_##tag.end()

#else

static inline void cprof_trace_cleanup_(const uint64_t *id)
{
	cprof_trace_end(*id);
}

#define CPROF_TRACE_SCOPE_WITH_OBJECT(name, o) \
	const uint64_t CPROF_TRACE_PASTE_(cprof_trace_scope_, __COUNTER__) \
		__attribute__((cleanup(cprof_trace_cleanup_), unused)) = \
			cprof_trace_begin((name), __FILE__, (o))
#define CPROF_TRACE_BEGIN_FUNC_SCOPE() \
	const uint64_t cprof_trace_func_scope_ = \
		cprof_trace_begin(__func__, __FILE__, CPROF_TRACE_NULL_)
#define CPROF_TRACE_BEGIN_FUNC_SCOPE_WITH_OBJECT(o) \
	const uint64_t cprof_trace_func_scope_ = cprof_trace_begin(__func__, __FILE__, (o))
#define CPROF_TRACE_END_FUNC_SCOPE() cprof_trace_end(cprof_trace_func_scope_)
/* The type of a value: of an array a pointer, of a bit-field what it widens to. */
#define CPROF_TRACE_END_FUNC_SCOPE_WITH(x) \
	__extension__({ \
		__typeof__(((void)0, (x))) cprof_trace_value_ = (x); \
		cprof_trace_end(cprof_trace_func_scope_); \
		cprof_trace_value_; \
	})
#define CPROF_TRACE_BEGIN_LOCAL_SCOPE(tag) \
	const uint64_t cprof_trace_local_scope_##tag = \
		cprof_trace_begin(#tag, __FILE__, CPROF_TRACE_NULL_)
#define CPROF_TRACE_END_LOCAL_SCOPE(tag) cprof_trace_end(cprof_trace_local_scope_##tag)

#endif
#endif
#endif

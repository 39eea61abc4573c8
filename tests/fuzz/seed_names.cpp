/* SPDX-License-Identifier: MIT
 *
 * A small program with names to look for in broken copies of it.
 */
enum { ANON = 7 };
int counter = ANON;
static long counted = 3;
thread_local int of_thread = 4;
namespace ns
{
enum Color { RED, GREEN = 5 };
enum class Mode : unsigned char { off, on };
struct Thing {
	static int count;
	static const int limit = 8;
	enum { TOP = 4 } top;
	int step(int n) const;
};
int Thing::count;
namespace
{
Color color = GREEN;
}
inline namespace v1
{
Mode mode = Mode::on;
}
int Thing::step(int n) const
{
	static int calls = 20;
	return calls += n + count + top + limit;
}
} // namespace ns
static int f(int a)
{
	static int x = 1;
	return x += a;
}

int main(int argc, char **)
{
	ns::Thing thing = { ns::Thing::TOP };

	counted += of_thread + counter;
	return thing.step(argc) + f(argc) + static_cast<int>(counted) + ns::color +
	       static_cast<int>(ns::mode);
}
